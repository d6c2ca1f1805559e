// The derivative of every op: what a gradient of its result contributes to the gradient of each source.
#pragma once

#include "core/ir/uop.h"

namespace uop {

/// True where a gradient may flow from `u` to its source `i`: both are floats, and the op is differentiable there in
/// principle (not DETACH, not an index, not a condition, not rounding to integral values).
bool passes_gradient(UOp u, std::size_t i);

/// The contribution of `g`, the gradient of `u`, to the gradient of u.src(i). Requires passes_gradient(u, i). Errors:
/// INVALID_ARGUMENT for a BITCAST, which has no derivative. The gradient of a product over more than 256 elements of
/// which one is 0 is right, but not its own derivative.
StatusOr<UOp> derivative(UOp u, std::size_t i, UOp g);

}  // namespace uop
