// `uop run GRAPH --input 0=x.npy --output 0=y.npy`: runs a graph once.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/graph_file.h"
#include "client/cpp/npy.h"
#include "core/ir/shape_rules.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

/// Elements of an output that are shown where it goes to no file.
constexpr std::int64_t kShownElements = 16;

struct RunArguments {
  std::string graph;
  std::vector<std::string> inputs;     // SLOT=FILE
  std::vector<std::string> variables;  // SLOT=VALUE
  std::vector<std::string> outputs;    // ROOT=FILE
  std::string directory;
};

StatusOr<std::map<std::int64_t, std::string>> by_number(std::string_view flag, const std::vector<std::string>& items) {
  std::map<std::int64_t, std::string> values;
  for (const std::string& item : items) {
    const std::size_t sign = item.find('=');
    std::int64_t number = -1;
    const char* end = item.data() + std::min(sign, item.size());
    const bool whole = std::from_chars(item.data(), end, number).ptr == end && number >= 0;
    if (sign == std::string::npos || !whole)
      return invalid_argument("{} {}: write NUMBER=VALUE, as in {} 0={}", flag, item, flag,
                              flag == "--var" ? "3" : "x.npy");
    if (!values.emplace(number, item.substr(sign + 1)).second)
      return invalid_argument("{} names number {} twice; name each once", flag, number);
  }
  return values;
}

StatusOr<std::vector<BufferHandle>> put_inputs(Device& device, const RootedGraph& graph,
                                               const std::map<std::int64_t, std::string>& files) {
  const std::map<std::int64_t, UOp> slots = slots_of(graph, Op::kBuffer);
  for (const auto& [slot, file] : files)
    if (!slots.contains(slot))
      return invalid_argument("--input {}={}: the graph has no BUFFER slot {}", slot, file, slot);
  std::vector<BufferHandle> inputs(slots.empty() ? 0 : static_cast<std::size_t>(slots.rbegin()->first) + 1);
  for (const auto& [slot, node] : slots) {
    const auto file = files.find(slot);
    if (file == files.end())
      return invalid_argument("the graph reads BUFFER slot {}, {}; give it with --input {}=FILE.npy", slot,
                              type_text(node.dtype(), node.shape()), slot);
    StatusOr<NpyArray> array = read_npy(file->second);
    if (!array.ok()) return array.status();
    const TensorSpec wanted{node.dtype(), node.numel()};
    if (array->dtype != wanted.dtype || array->bytes.size() != wanted.bytes())
      return invalid_argument("--input {}={}: it is {}, but the graph reads {}; convert it with astype and reshape",
                              slot, file->second, type_text(array->dtype, array->shape),
                              type_text(node.dtype(), node.shape()));
    StatusOr<BufferHandle> buffer = device.put(array->bytes, wanted);
    if (!buffer.ok()) return buffer.status();
    inputs[static_cast<std::size_t>(slot)] = *std::move(buffer);
  }
  return inputs;
}

StatusOr<std::vector<std::int64_t>> variable_values(const RootedGraph& graph,
                                                    const std::map<std::int64_t, std::string>& texts) {
  const std::map<std::int64_t, UOp> slots = slots_of(graph, Op::kVariable);
  std::vector<std::int64_t> values(slots.empty() ? 0 : static_cast<std::size_t>(slots.rbegin()->first) + 1);
  for (const auto& [slot, node] : slots) {
    const auto text = texts.find(slot);
    if (text == texts.end())
      return invalid_argument("the graph reads VARIABLE slot {}, {}..{}; give it with --var {}=NUMBER", slot,
                              node.arg().ints[0], node.arg().ints[1], slot);
    const std::string& digits = text->second;
    std::int64_t& value = values[static_cast<std::size_t>(slot)];
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ptr != digits.data() + digits.size())
      return invalid_argument("--var {}={}: it is not a whole number", slot, digits);
  }
  return values;
}

std::string first_elements(const NpyArray& array) {
  std::string text;
  const auto size = static_cast<std::size_t>(byte_size(array.dtype));
  const std::size_t count = array.bytes.size() / size;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, kShownElements); ++i) {
    Scalar value{array.dtype, 0};
    std::memcpy(&value.bits, array.bytes.data() + i * size, size);
    if (array.dtype == DType::kBool) value.bits = value.bits != 0 ? 1 : 0;
    text += (i == 0 ? "" : " ") + to_string(value);
  }
  return count > kShownElements ? text + " …" : text;
}

Json json_of(const RunReport& report) {
  Json kernels = Json::array();
  for (const KernelReport& kernel : report.kernel_runs)
    kernels.push_back({{"name", kernel.name},
                       {"ns", kernel.run.count()},
                       {"again_ns", kernel.again.count()},
                       {"flops", kernel.flops},
                       {"bytes", kernel.bytes}});
  return {{"plan_from", name(report.found_in)},
          {"queue_ns", report.queue.count()},
          {"schedule_ns", report.schedule.count()},
          {"run_ns", report.run.count()},
          {"kernels", report.kernels},
          {"kernels_compiled", report.kernels_compiled},
          {"kernel_runs", std::move(kernels)}};
}

Status run(const Settings& settings, const RunArguments& arguments) {
  const auto inputs = by_number("--input", arguments.inputs);
  const auto variables = by_number("--var", arguments.variables);
  auto outputs = by_number("--output", arguments.outputs);
  for (const Status& status : {inputs.status(), variables.status(), outputs.status()})
    if (!status.ok()) return status;
  StatusOr<GraphFile> file = read_graph(arguments.graph);
  if (!file.ok()) return file.status();
  const RootedGraph& graph = file->graph;
  for (const auto& [root, path] : *outputs)
    if (root >= static_cast<std::int64_t>(graph.roots.size()))
      return invalid_argument("--output {}={}: the graph has {} roots, numbered from 0", root, path,
                              graph.roots.size());

  StatusOr<std::shared_ptr<Device>> device = settings.device();
  if (!device.ok()) return device.status();
  StatusOr<std::vector<std::int64_t>> values = variable_values(graph, *variables);
  if (!values.ok()) return values.status();
  StatusOr<std::vector<BufferHandle>> buffers = put_inputs(**device, graph, *inputs);
  if (!buffers.ok()) return buffers.status();
  const RunOptions options{settings.compile(), settings.verbosity()};
  StatusOr<RunOutcome> outcome = (*device)->run(graph, *buffers, *values, options);
  if (!outcome.ok()) return outcome.status();
  std::fputs(to_text(outcome->report, settings.verbosity()).c_str(), stderr);

  Json shown = Json::array();
  for (std::size_t i = 0; i < graph.roots.size(); ++i) {
    const UOp root = graph.roots[i];
    StatusOr<std::vector<std::byte>> bytes = (*device)->get(outcome->outputs[i]);
    if (!bytes.ok()) return bytes.status();
    const NpyArray array{root.dtype(), root.shape(), *std::move(bytes)};
    const auto named = outputs->find(static_cast<std::int64_t>(i));
    std::string path = named != outputs->end() ? named->second : "";
    if (path.empty() && !arguments.directory.empty()) path = fmt::format("{}/{}.npy", arguments.directory, i);
    if (!path.empty())
      if (const Status status = write_npy(path, array); !status.ok()) return status;
    const std::string type = type_text(array.dtype, array.shape);
    if (settings.json())
      shown.push_back({{"dtype", name(array.dtype)},
                       {"shape", array.shape},
                       {"file", path},
                       {"first_elements", path.empty() ? first_elements(array) : ""}});
    else
      fmt::print("{} {} {}\n", i, type, path.empty() ? first_elements(array) : "-> " + path);
  }
  if (settings.json()) fmt::print("{}\n", Json{{"outputs", shown}, {"report", json_of(outcome->report)}}.dump(2));
  return ok_status();
}

}  // namespace

void add_run_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("run", "Run a graph on .npy inputs")->fallthrough();
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option("graph", arguments->graph, "the graph")->required();
  command->add_option("-i,--input", arguments->inputs, "SLOT=FILE.npy, for each BUFFER of the graph");
  command->add_option("--var", arguments->variables, "SLOT=NUMBER, for each VARIABLE of the graph");
  command->add_option("-o,--output", arguments->outputs, "ROOT=FILE.npy; without it the first elements are printed");
  command->add_option("-d,--output-dir", arguments->directory, "directory for all other roots, as ROOT.npy")
      ->check(CLI::ExistingDirectory);
  command->callback([=] { chosen([=](const Settings& settings) { return run(settings, *arguments); }); });
}

}  // namespace uop
