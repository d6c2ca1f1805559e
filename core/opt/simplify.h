// Algebra on scalar expressions: constants are folded, and the rules of rules.inc applied until none matches.
//
// Requires: a SINK as lower makes it. Ensures: the same stores with bit-equal values (any NaN for any NaN). Why here:
// on the lowered kernel, where a read that simplification deletes also drops out of the kernel's parameters; and at
// every optimisation level, so that the C is readable.
#pragma once

#include <span>

#include "core/ir/pattern.h"
#include "core/ir/uop.h"

namespace uop {

/// Steps that may be taken for one node whose sources are simple already, with those for the nodes that rules make of
/// it. Every rule makes its node smaller or moves a constant outward, so a few suffice; more are a fault of the rules.
inline constexpr int kMaxSimplifySteps = 64;

UOp simplify(UOp sink);

/// All rules of rules.inc, in order.
std::span<const Rule> simplification_rules();

}  // namespace uop
