// Which reductions may be computed inside the kernel that consumes them, at no cost: softmax becomes one kernel,
// (A@B)@C stays two.
//
// Requires: no GRADIENT, no DETACH. Ensures: a REDUCE is in the result only if one kernel alone consumes it, at one
// index, inside a prefix of that kernel's output loops. So it is computed as often as in a kernel of its own (an EXPAND
// along a later loop hoists it, one along an earlier loop would repeat it), by as many threads, and its result is never
// written to memory. Why here: it decides where split_kernels cuts. Run from opt=1 on; with fuse_reduce all reductions
// nest, whatever the cost.
#pragma once

#include <span>
#include <unordered_set>

#include "core/ir/uop.h"

namespace uop {

std::unordered_set<UOp, UOpHash> nest_reductions(std::span<const UOp> roots);

}  // namespace uop
