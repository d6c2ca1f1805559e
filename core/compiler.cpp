#include "core/compiler.h"

#include <chrono>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/grad/expand_gradients.h"
#include "core/ir/loop_nest.h"
#include "core/ir/structure.h"
#include "core/ir/text.h"
#include "core/ir/traverse.h"
#include "core/ir/verify_plan.h"
#include "core/lower/linearize.h"
#include "core/lower/lower.h"
#include "core/opt/simplify.h"
#include "core/render/render_c.h"
#include "core/schedule/materialization_points.h"
#include "core/schedule/plan_memory.h"
#include "core/schedule/split_kernels.h"
#include "core/schedule/stage_broadcast_compute.h"
#include "core/schedule/strip_detach.h"
#include "core/support/log.h"

namespace uop {
namespace {

std::string text_of(const std::vector<UOp>& roots) {
  return to_text(roots);
}
std::string text_of(UOp root) {
  return to_text({&root, 1});
}
std::string text_of(const StatusOr<std::vector<UOp>>& roots) {
  return roots.ok() ? to_text(*roots) : message(roots.status());
}
std::string text_of(const KernelBody& kernel) {
  return to_text(kernel.body.roots);
}
std::string text_of(const LoopNest& nest) {
  return to_text(nest);
}
std::string text_of(const RenderedKernel& kernel) {
  return kernel.text;
}

/// The listing with what ends a kernel marked.
std::string text_of(std::span<const UOp> roots, const std::unordered_set<UOp, UOpHash>& points) {
  const std::vector<UOp> order = toposort(roots);
  std::istringstream lines(to_text(roots));
  std::string marked;
  std::size_t at = 0;
  for (std::string line; std::getline(lines, line); at++)
    marked += line + (at < order.size() && points.contains(order[at]) ? "  # ends a kernel\n" : "\n");
  return marked;
}

/// Runs the passes: times each, and lets the observer see what came out.
class PassRunner {
 public:
  explicit PassRunner(const PassObserver& observer) : observer_(observer) {}
  ~PassRunner() {
    std::string times;
    for (const auto& [pass, time] : times_)
      times += fmt::format("{}{}={}", times.empty() ? "" : " ", pass,
                           std::chrono::duration_cast<std::chrono::microseconds>(time).count());
    log(LogLevel::kDebug, "passes", {{"microseconds", times}});
  }
  PassRunner(const PassRunner&) = delete;
  PassRunner& operator=(const PassRunner&) = delete;

  /// What `work()` makes. `kernel`: of a pass over one kernel.
  template <class Work>
  auto run(std::string_view pass, std::string_view kernel, const Work& work) {
    const Clock::time_point start = Clock::now();
    auto made = work();
    time_of(pass) += Clock::now() - start;
    show(kernel.empty() ? std::string(pass) : fmt::format("{} {}", pass, kernel), [&] { return text_of(made); });
    return made;
  }
  template <class Work>
  auto run(std::string_view pass, const Work& work) {
    return run(pass, "", work);
  }

  void show(std::string_view stage, const std::function<std::string()>& text) const {
    if (observer_) observer_(stage, text);
  }

 private:
  Clock::duration& time_of(std::string_view pass) {
    for (auto& [known, time] : times_)
      if (known == pass) return time;
    return times_.emplace_back(pass, Clock::duration{}).second;
  }

  const PassObserver& observer_;
  std::vector<std::pair<std::string_view, Clock::duration>> times_;  // in order of the passes
};

struct CompiledKernel {
  RenderedKernel rendered;
  std::int64_t parallel;
};

Status check_work(const LoopNest& nest, std::string_view kernel) {
  const std::uint64_t work = work_of_iteration(nest);
  if (work <= kMaxIterationWork) return ok_status();
  return error(
      StatusCode::kResourceExhausted,
      "kernel {} takes {:.3g} steps for one iteration of its outer loop, and nothing can stop it within one; at "
      "most {} are allowed\nremedy: reduce in steps: first over the inner axes only, with a STAGE around the "
      "result, then over what is left",
      kernel, static_cast<double>(work), kMaxIterationWork);
}

/// One kernel body to C. The body's output slot is the last of its refs.
StatusOr<CompiledKernel> compile_kernel(const KernelBody& kernel, PassRunner& passes) {
  const UOp body = kernel.body.roots.front();
  const auto output_slot = static_cast<std::int64_t>(kernel.refs.size()) - 1;
  UOp sink = passes.run("lower", kernel.name, [&] { return lower(body, output_slot); });
  sink = passes.run("simplify", kernel.name, [&] { return simplify(sink); });
  const LoopNest nest = passes.run("linearize", kernel.name, [&] { return linearize(sink); });
  if (const Status status = check_work(nest, kernel.name); !status.ok()) return status;
  RenderedKernel rendered = passes.run("render_c", kernel.name, [&] { return render_c(nest, kernel.name); });
  return CompiledKernel{std::move(rendered), nest.parallel ? nest.parallel.arg().ints[0] : 1};
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
  for (const BufferRef ref : launch.refs) {
    switch (ref.kind) {
      case BufferRef::Kind::kIn: bytes += schedule.inputs[ref.index].bytes(); break;
      case BufferRef::Kind::kTmp: bytes += schedule.temps[ref.index].bytes(); break;
      case BufferRef::Kind::kOut: bytes += schedule.outputs[ref.index].tensor.bytes(); break;
    }
  }
  return bytes;
}

Status check_sizes(const Schedule& schedule) {
  std::uint64_t bytes = 0;
  for (const TensorSpec& t : schedule.temps) {
    if (t.bytes() > kMaxTemporaryBytes - bytes)
      return error(StatusCode::kResourceExhausted,
                   "the temporaries of the plan take more than {} bytes\nremedy: store smaller values (STAGE), or none",
                   kMaxTemporaryBytes);
    bytes += t.bytes();
  }
  return ok_status();
}

StatusOr<Plan> assemble(const Schedule& schedule, const CompileOptions& options, PassRunner& passes,
                        const Cancel& cancel) {
  Plan plan;
  plan.inputs = schedule.inputs;
  plan.variables = schedule.variables;
  plan.outputs = schedule.outputs;
  plan.strict = options.numerics == "strict";
  // Twelve equal layers are twelve equal bodies: lowered and rendered once. Unequal bodies may still give equal C.
  std::unordered_map<std::string, CompiledKernel> by_structure;
  std::unordered_map<std::string, std::uint32_t> programs;
  for (const UOp point : schedule.points) {
    if (const Status status = cancel.status(); !status.ok()) return status;
    const KernelBody kernel = kernel_body(schedule, point);
    const auto [at, is_new] = by_structure.try_emplace(structure_bytes(kernel.body.roots));
    if (is_new) {
      passes.show(fmt::format("split_kernels {}", kernel.name), [&] { return text_of(kernel); });
      StatusOr<CompiledKernel> made = compile_kernel(kernel, passes);
      if (!made.ok()) return made.status();
      at->second = *std::move(made);
    }
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

StatusOr<Plan> compile_plan(std::span<const UOp> roots, const CompileOptions& options, const PassObserver& observer,
                            const Cancel& cancel) {
  PassRunner passes(observer);
  passes.show("graph", [&] { return to_text(roots); });
  // What a plan calls its inputs and variables is settled before any pass can drop one.
  const std::vector<UOp> inputs = nodes_of(Op::kBuffer, roots);
  const std::vector<UOp> variables = nodes_of(Op::kVariable, roots);

  const StatusOr<std::vector<UOp>> expanded =
      passes.run("expand_gradients", [&] { return expand_gradients(roots, cancel); });
  if (!expanded.ok()) return expanded.status();
  std::vector<UOp> graph = passes.run("strip_detach", [&] { return strip_detach(*expanded); });
  graph = passes.run("stage_broadcast_compute", [&] { return stage_broadcast_compute(graph, options); });

  const std::unordered_set<UOp, UOpHash> points = materialization_points(graph, options);
  passes.show("materialization_points", [&] { return text_of(graph, points); });
  if (const Status status = cancel.status(); !status.ok()) return status;
  const Schedule schedule = split_kernels(inputs, variables, graph, points);
  if (const Status status = check_sizes(schedule); !status.ok()) return status;
  // Kernel by kernel: lower, simplify, linearize, render_c.
  StatusOr<Plan> plan = assemble(schedule, options, passes, cancel);
  if (!plan.ok()) return plan.status();

  plan_memory(*plan, schedule.temps);
  passes.show("plan_memory", [&] { return to_text(*plan); });
  const Status verified = verify_plan(*plan);
  check(verified.ok(), message(verified));
  return plan;
}

}  // namespace uop
