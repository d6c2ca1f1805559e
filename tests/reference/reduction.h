// Reductions and scattered sums of the reference: plain loops from the identity, in row-major order.
#pragma once

#include <span>

#include "tests/reference/element.h"

namespace uop::reference {

/// Which of the two numerics options the bounds allow for.
enum class Numerics { kStrict, kDefault };

/// The elements reduced by ADD, MUL, MAX or MIN; f16 and bf16 accumulate in f32 and are rounded once, at the end.
Element reduced(Op op, DType dtype, std::span<const Element> elements, Numerics numerics);

}  // namespace uop::reference
