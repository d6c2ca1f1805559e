// Where kernels end: the nodes whose values are written to memory. All others are computed inside the kernels that
// consume them.
//
// Requires: no GRADIENT, no DETACH. Ensures: roots, STAGE and SCATTER are points; so is a REDUCE, unless it nests in
// its consumer (below); and so are elementwise nodes as needed to keep every kernel's size, and how often a node is
// computed, within bounds that do not grow with the graph. Why here: it decides where split_kernels cuts.
//
// A REDUCE nests, from opt=1 on, where that costs nothing: softmax becomes one kernel, (A@B)@C stays two. One kernel
// alone consumes it, at one index, inside a prefix of that kernel's output loops. So it is computed as often as in a
// kernel of its own (an EXPAND along a later loop hoists it, one along an earlier loop would repeat it), by as many
// threads, and its result never goes to memory. With fuse_reduce every reduction nests, whatever the cost.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>

#include "core/ir/uop.h"
#include "core/support/options.h"

namespace uop {

/// Operations of one kernel; a C compiler takes about a millisecond for each, and more than its share beyond some
/// thousands. Storing and loading a value costs as much as a few of them, so a cut every kMaxKernelWork is free.
inline constexpr std::int64_t kMaxKernelWork = 512;
/// A kernel may grow by this factor rather than end at a value that is larger than what it makes (the products of a
/// matrix multiplication), or at a movement op.
inline constexpr std::int64_t kOversize = 16;
/// A node that is computed in more places than this is stored, unless it takes less than kCheapWork operations or is
/// too large to store.
inline constexpr std::size_t kMaxReadings = 32;
inline constexpr std::int64_t kCheapWork = 16;
/// Places at which nodes are computed, for each node of the graph. Beyond, whatever is computed twice is stored.
inline constexpr std::size_t kReadingsPerNode = 64;

std::unordered_set<UOp, UOpHash> materialization_points(std::span<const UOp> roots, const CompileOptions& options);

}  // namespace uop
