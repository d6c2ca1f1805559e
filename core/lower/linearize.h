// Scalar expressions over loop counters become a loop nest: every value is computed in the outermost loop that has all
// it depends on, so that loop-invariant loads and arithmetic are hoisted, and once.
//
// Requires: a SINK as lower makes it. Ensures: an accumulator lives in the loops its index mentions; a value used more
// than once, loaded, or used in a deeper loop than its own is named; expressions are at most kMaxExpressionDepth deep.
// Why here: after simplification, which changes what depends on what.
#pragma once

#include "core/ir/loop_nest.h"

namespace uop {

/// C compilers recurse over expressions, and people read them.
inline constexpr int kMaxExpressionDepth = 16;

LoopNest linearize(UOp sink);

}  // namespace uop
