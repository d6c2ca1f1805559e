#include "server/execute_report.h"

#include <algorithm>

#include "server/compile_handlers.h"

namespace uop {
namespace {

std::uint64_t ns(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count()));
}

}  // namespace

void fill_report(const Compilation& compilation, const RunResult& result, std::chrono::nanoseconds queued,
                 std::uint32_t verbosity, uopd::v1::Report& report) {
  const Plan& plan = compilation.plan->plan;
  report.set_origin(to_message(compilation.origin));
  report.set_queue_ns(ns(queued));
  report.set_schedule_ns(ns(compilation.schedule_time));
  report.set_run_ns(ns(result.run_time));
  report.set_kernels(static_cast<std::uint32_t>(plan.kernels.size()));
  report.set_kernels_compiled(compilation.kernels_compiled);
  if (verbosity < 2) return;
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelLaunch& kernel = plan.kernels[i];
    auto& row = *report.add_kernel_runs();
    row.set_name(kernel.name);
    row.set_ns(ns(result.execution.timings[i].run));
    row.set_again_ns(ns(result.execution.timings[i].again));
    row.set_flops(kernel.flops);
    row.set_bytes(kernel.bytes);
  }
  if (verbosity < 4 || compilation.origin != PlanOrigin::kCompiled) return;
  for (const KernelProgram& program : plan.programs) report.add_sources(program.source);
}

}  // namespace uop
