#include "tests/reference/planned_case.h"

#include <algorithm>

#include "core/compiler.h"
#include "core/exec/executor.h"
#include "core/ir/structure.h"
#include "core/ir/traverse.h"
#include "core/ir/verify_plan.h"

namespace uop::reference {
namespace {

/// The plan with kernels that claim so much work that the executor cuts them into as many slices as it can.
Plan in_slices(Plan plan) {
  constexpr std::uint64_t kALotOfWork = std::uint64_t{1} << 40;
  for (KernelLaunch& k : plan.kernels) k.flops = kALotOfWork;
  return plan;
}

}  // namespace

StatusOr<PlannedCase> PlannedCase::make(const RandomCase& c, const CompileOptions& options, KernelBatch& kernels) {
  PlannedCase planned;
  std::vector<UOp> roots;
  for (const UOp root : c.graph.roots) {
    const auto at = std::find(roots.begin(), roots.end(), root);
    planned.outputs_.push_back(static_cast<std::size_t>(at - roots.begin()));
    if (at == roots.end()) roots.push_back(root);
  }
  for (const UOp u : nodes_of(Op::kBuffer, roots)) planned.input_slots_.push_back(u.arg().value);
  for (const UOp u : nodes_of(Op::kVariable, roots)) planned.variable_slots_.push_back(u.arg().value);
  const StatusOr<RootedGraph> graph = graph_of_structure(structure_bytes(roots));
  if (!graph.ok()) return graph.status();
  StatusOr<Plan> plan = compile_plan(graph->roots, options);
  if (!plan.ok()) return plan.status();
  if (Status status = verify_plan(*plan); !status.ok()) return status;
  for (const KernelProgram& program : plan->programs) planned.kernels_.push_back(kernels.add(program.source));
  planned.plan_ = *std::move(plan);
  return planned;
}

StatusOr<Outputs> PlannedCase::run(const RandomCase& c, const KernelBatch& kernels, bool split, BufferPool& pool,
                                   ComputePool& threads) const {
  std::vector<KernelEntry> entries;
  for (const std::size_t k : kernels_) entries.push_back(kernels.entry(k));
  const StatusOr<BoundInputs> bound = BoundInputs::bind(c, pool);
  if (!bound.ok()) return bound.status();
  std::vector<BufferPtr> inputs;
  for (const std::int64_t slot : input_slots_) inputs.push_back(bound->at(slot));
  std::vector<std::int64_t> variables;
  for (const std::int64_t slot : variable_slots_) variables.push_back(c.inputs.variables.at(slot));
  const StatusOr<Execution> execution =
      execute(split ? in_slices(plan_) : plan_, entries, inputs, variables, {}, pool, threads, {});
  if (!execution.ok()) return execution.status();
  if (Status status = bound->unchanged(c); !status.ok()) return status;
  Outputs outputs;
  for (const std::size_t output : outputs_) outputs.push_back(downloaded(*execution->outputs.at(output)));
  return outputs;
}

}  // namespace uop::reference
