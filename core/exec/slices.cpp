#include "core/exec/slices.h"

#include <algorithm>
#include <limits>

namespace uop {
namespace {

std::uint64_t work_of(const KernelLaunch& kernel) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return kernel.flops > most - kernel.bytes ? most : kernel.flops + kernel.bytes;
}

std::uint64_t iterations(const KernelLaunch& kernel) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(kernel.parallel, 1));
}

std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace

std::int64_t grain_of(const KernelLaunch& kernel) {
  const std::uint64_t work = work_of(kernel);
  const std::uint64_t for_threads = std::clamp(work / kMinSliceWork, std::uint64_t{1}, kEnoughSlices);
  const std::uint64_t slices = std::max(for_threads, quotient_up(work, kMaxSliceWork));
  return static_cast<std::int64_t>(quotient_up(iterations(kernel), slices));
}

Status check_slice_work(const Plan& plan) {
  for (const KernelLaunch& kernel : plan.kernels) {
    const std::uint64_t work = work_of(kernel) / iterations(kernel);
    if (work <= kMaxIterationWork) continue;
    return error(
        StatusCode::kResourceExhausted,
        "kernel {} has {:.3g} operations for each of the {} iterations of its outer loop, and nothing can stop "
        "it within one; at most {} are allowed\nremedy: reduce in steps: first over the inner axes only, with "
        "a STAGE around the result, then over what is left",
        kernel.name, static_cast<double>(work), kernel.parallel, kMaxIterationWork);
  }
  return ok_status();
}

}  // namespace uop
