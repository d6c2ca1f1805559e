#include "core/compiler.h"

#include <unordered_map>

#include "core/grad/expand_gradients.h"
#include "core/ir/loop_nest.h"
#include "core/ir/structure.h"
#include "core/ir/text.h"
#include "core/ir/traverse.h"
#include "core/lower/linearize.h"
#include "core/lower/lower.h"
#include "core/opt/simplify.h"
#include "core/render/render_c.h"
#include "core/schedule/materialization_points.h"
#include "core/schedule/plan_memory.h"
#include "core/schedule/split_kernels.h"
#include "core/schedule/stage_broadcast_compute.h"
#include "core/schedule/strip_detach.h"

namespace uop {
namespace {

/// Shows what each pass made to whoever wants to see it.
class PassTrace {
 public:
  explicit PassTrace(const PassObserver& observer) : observer_(observer) {}

  void show(std::string_view pass, std::span<const UOp> roots) const {
    if (observer_) observer_(pass, [&] { return to_text(roots); });
  }
  void show(std::string_view pass, std::string_view kernel, UOp root) const {
    if (observer_) observer_(fmt::format("{} {}", pass, kernel), [&] { return to_text({&root, 1}); });
  }
  void show(std::string_view pass, std::string_view kernel, const std::string& text) const {
    if (observer_) observer_(fmt::format("{} {}", pass, kernel), [&] { return text; });
  }
  void show(std::string_view pass, const Plan& plan) const {
    if (observer_) observer_(pass, [&] { return to_text(plan); });
  }

 private:
  const PassObserver& observer_;
};

struct CompiledKernel {
  RenderedKernel rendered;
  std::int64_t parallel;
};

/// One kernel body to C. The body's output slot is the last of its refs.
CompiledKernel compile_kernel(const KernelBody& kernel, const PassTrace& trace) {
  const UOp body = kernel.body.roots.front();
  trace.show("kernel", kernel.name, body);
  UOp sink = lower(body, static_cast<std::int64_t>(kernel.refs.size()) - 1);
  trace.show("lower", kernel.name, sink);
  sink = simplify(sink);
  trace.show("simplify", kernel.name, sink);
  const LoopNest nest = linearize(sink);
  CompiledKernel compiled{render_c(nest, kernel.name), nest.parallel ? nest.parallel.arg().ints[0] : 1};
  trace.show("render_c", kernel.name, compiled.rendered.text);
  return compiled;
}

/// The launch of a compiled kernel: simplification may have deleted reads, so what is bound is what the C still takes.
KernelLaunch launch_of(const KernelBody& kernel, const CompiledKernel& compiled, std::uint32_t program) {
  KernelLaunch launch{kernel.name, program, {}, {}, compiled.parallel, kernel.flops, 0};
  for (const std::int64_t slot : compiled.rendered.slots)
    launch.refs.push_back(kernel.refs[static_cast<std::size_t>(slot)]);
  for (const std::int64_t slot : compiled.rendered.variables)
    launch.variables.push_back(kernel.variables[static_cast<std::size_t>(slot)]);
  return launch;
}

std::uint64_t bytes_touched(const KernelLaunch& launch, const Schedule& schedule) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < launch.refs.size(); i++) {
    const BufferRef ref = launch.refs[i];
    switch (ref.kind) {
      case BufferRef::Kind::kIn: bytes += schedule.inputs[ref.index].bytes(); break;
      case BufferRef::Kind::kTmp: bytes += schedule.temps[ref.index].bytes(); break;
      case BufferRef::Kind::kOut: bytes += schedule.outputs[ref.index].tensor.bytes(); break;
    }
  }
  return bytes;
}

Plan assemble(const Schedule& schedule, const CompileOptions& options, const PassTrace& trace) {
  Plan plan;
  plan.inputs = schedule.inputs;
  plan.variables = schedule.variables;
  plan.outputs = schedule.outputs;
  plan.strict = options.numerics == "strict";
  // Twelve equal layers are twelve equal bodies: lowered and rendered once. Unequal bodies may still give equal C.
  std::unordered_map<std::string, CompiledKernel> by_structure;
  std::unordered_map<std::string, std::uint32_t> programs;
  for (const KernelBody& kernel : schedule.kernels) {
    const auto [at, is_new] = by_structure.try_emplace(structure_bytes(kernel.body.roots));
    if (is_new) at->second = compile_kernel(kernel, trace);
    const CompiledKernel& compiled = at->second;
    const auto [program, is_new_text] =
        programs.try_emplace(compiled.rendered.text, static_cast<std::uint32_t>(plan.programs.size()));
    if (is_new_text) plan.programs.push_back({compiled.rendered.text});
    plan.kernels.push_back(launch_of(kernel, compiled, program->second));
    plan.kernels.back().bytes = bytes_touched(plan.kernels.back(), schedule);
  }
  return plan;
}

}  // namespace

StatusOr<Plan> compile_plan(std::span<const UOp> roots, const CompileOptions& options, const PassObserver& observer) {
  const PassTrace trace(observer);
  trace.show("graph", roots);
  // What a plan calls its inputs and variables is settled before any pass can drop one.
  const std::vector<UOp> inputs = nodes_of(Op::kBuffer, roots);
  const std::vector<UOp> variables = nodes_of(Op::kVariable, roots);

  StatusOr<std::vector<UOp>> expanded = expand_gradients(roots);
  if (!expanded.ok()) return expanded.status();
  std::vector<UOp> graph = *std::move(expanded);
  trace.show("expand_gradients", graph);

  graph = strip_detach(graph);
  trace.show("strip_detach", graph);

  if (options.stage && !options.fuse_reduce) {
    graph = stage_broadcast_compute(graph);
    trace.show("stage_broadcast_compute", graph);
  }

  const std::unordered_set<UOp, UOpHash> points = materialization_points(graph, options);
  const Schedule schedule = split_kernels(inputs, variables, graph, points);
  Plan plan = assemble(schedule, options, trace);  // per kernel: lower, simplify, linearize, render_c

  plan_memory(plan, schedule.temps);
  trace.show("plan", plan);
  return plan;
}

}  // namespace uop
