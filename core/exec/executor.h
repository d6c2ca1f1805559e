// Runs a plan: binds buffers, launches its kernels in order, splits their outer loops over the compute threads.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "core/exec/buffer_pool.h"
#include "core/exec/compute_pool.h"
#include "core/ir/plan.h"
#include "core/support/kernel_abi.h"

namespace uop {

struct ExecuteOptions {
  bool repeat_kernels = false;  // run each kernel a second time, to time it warm (verbosity 3)
};

struct KernelTiming {
  std::chrono::nanoseconds run{};
  std::chrono::nanoseconds again{};  // 0 unless repeat_kernels
};

struct Execution {
  std::vector<BufferPtr> outputs;     // one per Plan::outputs; an alias is the input's own buffer
  std::vector<KernelTiming> timings;  // one per Plan::kernels
};

/// Requires `entries`: one per Plan::programs. Ensures that results are bit-identical whatever the number of threads,
/// and that runs of one plan may overlap: scratch memory comes from the pool, per run. Errors: INVALID_ARGUMENT for a
/// number or size of inputs, or a variable, that does not fit the plan (names which, and what is expected);
/// RESOURCE_EXHAUSTED from the pool; CANCELLED, DEADLINE_EXCEEDED between slices.
StatusOr<Execution> execute(const Plan& plan, std::span<const KernelEntry> entries, std::span<const BufferPtr> inputs,
                            std::span<const std::int64_t> variables, const ExecuteOptions& options, BufferPool& pool,
                            ComputePool& threads, const Cancel& cancel);

}  // namespace uop
