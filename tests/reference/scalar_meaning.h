// The exact meaning of every elementwise op on one element, written from the numerics contract and from nothing else.
//
// `meaning` is what others call.
#pragma once

#include <span>

#include "core/ir/op.h"
#include "tests/reference/number.h"

namespace uop::reference {

/// The pattern that `op` gives. `operand`: the dtype of the operands (of WHERE: of the two values); `result`: of the
/// result. f16 and bf16 are computed in f32 and rounded after the op. EXP2, LOG2 and SIN are the long double function
/// rounded once (for halves by way of f32), which a kernel only comes near to.
Bits meaning(Op op, DType result, DType operand, std::span<const Bits> x);

/// What a reduction starts from: ADD 0, MUL 1, MAX the lowest value (-inf), MIN the highest (inf).
Bits identity(Op op, DType dtype);

/// True for the ops whose last bits belong to the renderer's prelude.
bool is_approximate(Op op);

}  // namespace uop::reference
