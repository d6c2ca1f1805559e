// How a kernel's outer loop is cut into slices: enough of them for all threads, each short enough that a deadline or a
// cancellation is honoured soon. It depends on the plan alone, never on the number of threads or the time, so that
// every run makes the same calls.
//
// grain_of is what the executor calls.
#pragma once

#include <cstdint>

#include "core/ir/plan.h"

namespace uop {

// The work of a kernel is its flops plus its bytes; a core does from one to ten of these a nanosecond.

/// Of a slice, at least: some 25 microseconds, against the 5 to 10 that it takes to wake a thread. Kernels with less
/// run inline.
inline constexpr std::uint64_t kMinSliceWork = 256 << 10;

/// Where slices are not too long, no more of them are made: enough for 64 threads to finish together, and to stop a
/// kernel within a percent of its time.
inline constexpr std::uint64_t kEnoughSlices = 256;

/// Of a slice, at most, where the outer loop can be split that far, and up to whole iterations: a tenth of a second to
/// one. A run ends this long after its deadline.
inline constexpr std::uint64_t kMaxSliceWork = std::uint64_t{1} << 30;

/// The iterations of a slice; at least 1.
std::int64_t grain_of(const KernelLaunch& kernel);

}  // namespace uop
