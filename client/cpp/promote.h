// Which dtype and which shape two operands meet in.
#pragma once

#include "core/ir/dtype.h"
#include "core/ir/uop.h"

namespace uop {

/// The dtype of an operation on tensors of dtypes `a` and `b`:
///   equal dtypes stay; bool gives way to anything;
///   a float and an integer meet in the float; two floats in the wider, f16 and bf16 in f32;
///   two integers of one sign in the wider; a signed and an unsigned one in the narrowest signed type that holds both.
/// Throws ClientError for u64 with a signed integer, which no type holds.
DType promote(DType a, DType b);

/// The dtype in which a plain number meets a tensor of `dtype`: the tensor's own; but f32 where the number is
/// fractional (a C++ float or double) and the tensor is not, and i32 where a whole number meets a bool.
DType promote_number(DType dtype, bool fractional);

/// The dtype arithmetic is done in: a bool counts as i32, everything else stays.
DType arithmetic_dtype(DType dtype);
/// The dtype of exp, sqrt, mean and the like: floats stay, everything else becomes f32.
DType float_dtype(DType dtype);

/// The shape two operands broadcast to, as in NumPy: aligned at the last axis, 1 gives way. Throws ClientError that
/// shows both shapes.
Shape broadcast_shape(const Shape& a, const Shape& b);

}  // namespace uop
