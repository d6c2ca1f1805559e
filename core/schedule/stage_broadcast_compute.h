// Stores an expensive value before it is broadcast, so that it is not recomputed for every copy.
//
// Requires: no DETACH. Ensures: a computed value that an EXPAND repeats at least kMinCopies times, and whose fused work
// is at least kMinWork, is wrapped in STAGE; nested values compose, since the graph is rebuilt bottom-up. Why here:
// before the cut, which ends a kernel at every STAGE. Does nothing without the option `stage`, and with fuse_reduce,
// which means "never write the big intermediate". Source of the thresholds: the chapter "Kernel fusion and fission",
// section 7.10.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ir/uop.h"
#include "core/support/options.h"

namespace uop {

/// Recomputing twice costs about what a write and a read do; four copies are a clear win for storing.
inline constexpr std::int64_t kMinCopies = 4;
/// ALU ops times elements; below it a kernel launch costs more than recomputing (softmax's 1/sum).
inline constexpr std::int64_t kMinWork = 4096;

std::vector<UOp> stage_broadcast_compute(std::span<const UOp> roots, const CompileOptions& options);

}  // namespace uop
