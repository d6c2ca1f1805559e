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

}  // namespace uop
