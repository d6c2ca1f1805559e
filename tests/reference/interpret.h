// The reference interpreter: what a graph gives, computed node by node and element by element, with no code of the
// service but the accessors of nodes. Linked by tests only.
//
// `interpret` is what others call.
#pragma once

#include <span>
#include <vector>

#include "tests/reference/reduction.h"
#include "tests/reference/tensor.h"

namespace uop::reference {

/// The value of each root. Takes every op that can be on the wire but GRADIENT, which the engine expands first.
/// `numerics` says how far from "as written" a kernel may be; element.h has the model. Throws BrokenInvariant for an
/// op that it does not know and for an input that is missing or of the wrong size.
std::vector<Tensor> interpret(std::span<const UOp> roots, const Inputs& inputs, Numerics numerics);

}  // namespace uop::reference
