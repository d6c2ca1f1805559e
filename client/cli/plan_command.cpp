// `uop plan GRAPH`: which kernels a graph becomes.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/graph_file.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const TensorSpec& tensor) {
  return {{"dtype", name(tensor.dtype)}, {"elements", tensor.elements}};
}

Json json_of(const CompileReport& report) {
  const Plan& plan = report.plan;
  Json json{{"plan_id", report.plan_id}, {"plan_from", name(report.found_in)},
            {"why", report.why},         {"kernels_compiled", report.kernels_compiled},
            {"kernels", Json::array()},  {"temporaries", Json::array()},
            {"outputs", Json::array()},  {"scratch_bytes", plan.scratch_bytes},
            {"flops", plan.flops()}};
  for (const KernelLaunch& kernel : plan.kernels) {
    Json refs = Json::array();
    for (const BufferRef ref : kernel.refs) refs.push_back(to_string(ref));
    json["kernels"].push_back({{"name", kernel.name},
                               {"program", kernel.program},
                               {"refs", std::move(refs)},
                               {"parallel", kernel.parallel},
                               {"flops", kernel.flops},
                               {"bytes", kernel.bytes}});
  }
  for (const TempSpec& temp : plan.temps) {
    Json row = json_of(temp.tensor);
    row.update({{"first", temp.first}, {"last", temp.last}, {"offset", temp.offset}});
    json["temporaries"].push_back(std::move(row));
  }
  for (const OutputSpec& output : plan.outputs) {
    Json row = json_of(output.tensor);
    if (output.alias_of_input >= 0) row["alias_of_input"] = output.alias_of_input;
    json["outputs"].push_back(std::move(row));
  }
  return json;
}

Status plan(const Settings& settings, const std::string& path) {
  StatusOr<GraphFile> file = read_graph(path);
  if (!file.ok()) return file.status();
  StatusOr<std::shared_ptr<Device>> device = settings.device();
  if (!device.ok()) return device.status();
  StatusOr<CompileReport> report = (*device)->compile(file->graph, settings.compile());
  if (!report.ok()) return report.status();
  if (settings.json())
    fmt::print("{}\n", json_of(*report).dump(2));
  else
    fmt::print("plan {} from {}\n{}", report->plan_id.substr(0, 16), name(report->found_in), to_text(report->plan));
  return ok_status();
}

}  // namespace

void add_plan_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("plan", "Show the kernels of a graph: refs, flops, bytes, temporaries");
  const auto path = std::make_shared<std::string>();
  command->fallthrough()->add_option("graph", *path, "the graph")->required();
  command->callback([=] { chosen([=](const Settings& settings) { return plan(settings, *path); }); });
}

}  // namespace uop
