// The fuzz target of the compiler: no kernel is compiled here, for that takes longer than all else together; the test
// that replays the corpus runs what it finds.
#include "core/compiler.h"
#include "core/ir/structure.h"
#include "core/ir/text.h"
#include "core/ir/verify_plan.h"
#include "core/wire/stored_plan.h"
#include "tests/fuzz/graph_of_bytes.h"
#include "tests/fuzz/targets.h"
#include "tests/reference/compare.h"
#include "tests/reference/interpret.h"

namespace uop::fuzz {
namespace {

using reference::Tensor;

constexpr std::string_view kGradientsExpanded = "expand_gradients";

/// Follows the graph from pass to pass: its value stays what it was when the first graph without GRADIENT came out.
class PassCheck {
 public:
  explicit PassCheck(const reference::Inputs& inputs) : inputs_(inputs) {}

  void see(std::string_view pass, const std::function<std::string()>& text) {
    if (pass == kGradientsExpanded) begun_ = true;
    // After "graph" come passes over the whole graph, then those over one kernel, named "pass kernel".
    if (!begun_ || pass.find(' ') != std::string_view::npos || pass == "plan_memory") return;
    std::string listing = text();
    if (listing == last_) return;  // most passes find nothing to do
    last_ = std::move(listing);
    const StatusOr<RootedGraph> graph = parse_text(last_);
    check(graph.ok(), fmt::format("what {} gives can't be read", pass));
    std::vector<Tensor> values = interpret(graph->roots, inputs_, reference::Numerics::kStrict);
    if (values_.empty()) values_ = std::move(values);
    check(values_.size() == values.size() || values.empty(), fmt::format("{} changes the number of roots", pass));
    for (std::size_t r = 0; r < values.size(); r++) {
      const auto difference = reference::difference(values_[r].dtype, bytes_of(values_[r]), bytes_of(values[r]));
      check(!difference, fmt::format("{} changes root {}: {}", pass, r, difference.value_or("")));
    }
  }

 private:
  const reference::Inputs& inputs_;
  bool begun_ = false;
  std::string last_;  // the graph as it last was
  std::vector<Tensor> values_;
};

void check_plan(const Plan& plan, const std::string& structure, const CompileOptions& options) {
  const Status verified = verify_plan(plan);
  check(verified.ok(), message(verified));
  const StoredPlanData data{structure, options, plan};
  const StatusOr<StoredPlanData> read = parse_stored_plan(serialize_stored_plan(data));
  check(read.ok() && *read == data, "a plan comes back from its file as another");
  check(!to_text(plan).empty(), "a plan has no text");
}

}  // namespace

void graph_result(Bytes bytes) {
  const Program program = program_of_bytes(bytes);
  const std::vector<UOp>& roots = program.graph.graph.roots;
  const std::string structure = structure_bytes(roots);
  const StatusOr<RootedGraph> graph = graph_of_structure(structure);
  check(graph.ok(), "a structure is refused");
  // Slots of the structure are numbered in order; the data is by the slots of the program.
  PassCheck passes(program.graph.inputs);
  const StatusOr<Plan> plan =
      compile_plan(roots, program.options,
                   [&](std::string_view pass, const std::function<std::string()>& text) { passes.see(pass, text); });
  const StatusOr<Plan> again = compile_plan(graph->roots, program.options);
  check(plan.ok() == again.ok(), "equal structures, one of them without a plan");
  if (!plan.ok()) {
    const bool is_refusal =
        plan.status().code() == StatusCode::kInvalidArgument || plan.status().code() == StatusCode::kResourceExhausted;
    check(is_refusal, message(plan.status()));
    check(message(plan.status()).find("remedy: ") != std::string::npos, message(plan.status()));
    return;
  }
  check(*plan == *again, "equal structures have unlike plans");
  check_plan(*plan, structure, program.options);
}

}  // namespace uop::fuzz
