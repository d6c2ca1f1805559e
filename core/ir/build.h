// Short names for making nodes. Every function throws BrokenInvariant for what shape_rules.h refuses, so they are for
// passes and for clients that have checked their operands.
#pragma once

#include "core/ir/uop.h"

namespace uop {

UOp buffer(Graph& g, std::int64_t slot, DType dtype, std::int64_t elements);
UOp constant(Graph& g, Scalar value);
UOp constant(Graph& g, DType dtype, double value);
UOp constant(Graph& g, DType dtype, std::int64_t value);
UOp iota(Graph& g, DType dtype, std::int64_t n);

/// x itself where nothing would change.
UOp reshape(UOp x, const Shape& shape);
UOp expand(UOp x, const Shape& shape);
UOp permute(UOp x, const std::vector<std::int64_t>& order);
UOp pad(UOp x, const std::vector<std::int64_t>& before_after);
UOp shrink(UOp x, const std::vector<std::int64_t>& begin_end);
UOp flip(UOp x, const std::vector<std::int64_t>& flags);

UOp reduce(Op op, UOp x, std::int64_t trailing_axes);
UOp cast(UOp x, DType dtype);
UOp unary(Op op, UOp x);
UOp binary(Op op, UOp a, UOp b);
UOp where(UOp condition, UOp a, UOp b);

/// A constant of `like`'s dtype, repeated to its shape.
UOp full_like(UOp like, double value);
/// `x` (shape (), or any shape of one element) repeated to `shape`.
UOp broadcast_scalar(UOp x, const Shape& shape);

}  // namespace uop
