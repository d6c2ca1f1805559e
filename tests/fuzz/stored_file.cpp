// The fuzz target of what is read from files.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "core/compile/memory_file.h"
#include "core/compile/shared_object.h"
#include "core/compile/store_file.h"
#include "core/exec/executor.h"
#include "core/ir/structure.h"
#include "core/wire/plan_codec.h"
#include "core/wire/stored_plan.h"
#include "tests/fuzz/targets.h"

namespace uop::fuzz {
namespace {

constexpr std::uint32_t kKind = 1;
constexpr std::uint64_t kMostBytes = 16 << 20;  // of the buffers of a plan that is run

std::string_view view_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs every slice in the thread of the caller.
class OneThread final : public ComputePool {
 public:
  Status parallel_for(std::int64_t n, std::int64_t grain, const Cancel&,
                      const std::function<void(std::int64_t, std::int64_t)>& slice) override {
    for (std::int64_t begin = 0; begin < n; begin += std::min(grain, n - begin))
      slice(begin, begin + std::min(grain, n - begin));
    return ok_status();
  }
  int threads() const override { return 1; }
};

void nothing(void* const*, const std::int64_t*, std::int64_t, std::int64_t) {}

/// That the executor finds all that a verified plan names.
void run(const Plan& plan) {
  std::uint64_t bytes = plan.scratch_bytes;
  const auto add = [&](const TensorSpec& spec) { bytes += std::min(spec.bytes(), kMostBytes) + 64; };
  for (const TensorSpec& input : plan.inputs) add(input);
  for (const OutputSpec& output : plan.outputs) add(output.tensor);
  if (plan.scratch_bytes > kMostBytes || bytes > kMostBytes) return;
  const auto pool = BufferPool::create(4 * kMostBytes, /*poison=*/true);
  OneThread threads;
  std::vector<BufferPtr> inputs;
  for (const TensorSpec& input : plan.inputs) inputs.push_back(pool->allocate(input.bytes()).value());
  std::vector<std::int64_t> variables;
  for (const VariableSpec& variable : plan.variables) variables.push_back(variable.min);
  const std::vector<KernelEntry> entries(plan.programs.size(), nothing);
  const StatusOr<Execution> execution = execute(plan, entries, inputs, variables, {}, *pool, threads, {});
  check(execution.ok(), fmt::format("a plan that verifies does not run: {}", message(execution.status())));
}

void check_plan(const Plan& plan) {
  check(!to_text(plan).empty(), "a plan has no text");
  check(plan.flops() + plan.output_bytes() + 1 > 0, "");  // for the sanitizers
  const StatusOr<Plan> again = decode_plan(encode_plan(plan, /*with_sources=*/true));
  check(again.ok() && *again == plan, "a plan comes back as another");
  run(plan);
}

void entry(Bytes bytes) {
  const std::string_view file = view_of(bytes);
  const Digest key = sha256("key");
  if (const auto payload = verified_payload(kKind, key, file))
    check(trailer_of(kKind, key, file.substr(0, *payload)) == file.substr(*payload), "a foreign trailer is taken");
}

/// A sound entry of which one byte is changed, or which is cut.
void changed_entry(Bytes bytes) {
  if (bytes.size() < 3) return;
  const std::size_t at = static_cast<std::size_t>(bytes[0]) * 256 + bytes[1];
  const std::uint8_t by = bytes[2];
  const std::string payload(view_of(bytes.subspan(3)));
  const Digest key = sha256("key");
  const std::string sound = payload + trailer_of(kKind, key, payload);
  check(verified_payload(kKind, key, sound) == payload.size(), "a sound entry is refused");
  std::string changed = sound;
  changed[at % changed.size()] = static_cast<char>(changed[at % changed.size()] ^ by);
  check(verified_payload(kKind, key, changed).has_value() == (by == 0), "a changed entry is taken");
  check(!verified_payload(kKind, key, std::string_view(sound).substr(0, at % sound.size())), "a cut entry is taken");
  check(!verified_payload(kKind, sha256("other"), sound), "an entry answers for another key");
  check(!verified_payload(kKind + 1, key, sound), "an entry answers for another kind");
}

void stored_plan(std::string_view file) {
  const StatusOr<StoredPlanData> data = parse_stored_plan(file);
  if (!data.ok()) {
    check(data.status().code() == StatusCode::kDataLoss, message(data.status()));
    return;
  }
  const StatusOr<StoredPlanData> again = parse_stored_plan(serialize_stored_plan(*data));
  check(again.ok() && *again == *data, "a stored plan comes back as another");
  if (const StatusOr<RootedGraph> graph = graph_of_structure(data->structure); graph.ok()) {
    const std::string structure = structure_bytes(graph->roots);
    check(graph_of_structure(structure).ok(), "a structure is refused");
    check(!first_difference(structure, data->structure).text.empty(), "two structures are compared without a word");
  }
  check_plan(data->plan);
}

void plan_message(Bytes bytes) {
  uopd::v1::Plan message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  if (const StatusOr<Plan> plan = decode_plan(message); plan.ok())
    check_plan(*plan);
  else
    check(plan.status().code() == StatusCode::kDataLoss, std::string(plan.status().message()));
}

void shared_object(Bytes bytes) {
  const auto file = memory_file(view_of(bytes));
  check(file.ok(), "no memory file");
  problem_of_shared_object(file->get());
}

}  // namespace

void stored_file(Bytes bytes) {
  const google::protobuf::LogSilencer silent;  // of strings that are not UTF-8
  if (bytes.empty()) return;
  const Bytes rest = bytes.subspan(1);
  switch (bytes[0]) {
    case 0: return entry(rest);
    case 1: return changed_entry(rest);
    case 2: return stored_plan(view_of(rest));
    case 3: return plan_message(rest);
    case 4: return shared_object(rest);
    default: return;
  }
}

}  // namespace uop::fuzz
