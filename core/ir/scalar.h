// The scalar meaning of every elementwise op: what constant folding computes and what the rewrite rules are checked
// against. It is the numerics contract in code: integers wrap, nothing traps, NaN propagates, halves round once per op.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/ir/dtype.h"
#include "core/ir/op.h"

namespace uop {

/// One value. `bits` holds its pattern in the low byte_size(dtype) bytes, zero above; a bool is 0 or 1.
struct Scalar {
  DType dtype = DType::kNone;
  std::uint64_t bits = 0;
  bool operator==(const Scalar&) const = default;
};

/// `value` converted to `dtype` by the rules of CAST (from f64, i64 or u64 to any dtype, rounding once).
Scalar scalar_of(DType dtype, double value);
Scalar scalar_of(DType dtype, std::int64_t value);
Scalar scalar_of(DType dtype, std::uint64_t value);

/// The value as a double (exact but for 64-bit integers above 2^53), and as an int64 by the rules of CAST.
double to_double(Scalar s);
std::int64_t to_int64(Scalar s);
bool is_nan(Scalar s);

/// The shortest decimal text that reads back as the same value: "1", "-0.5", "inf", "nan", "true".
std::string to_string(Scalar s);

/// The result of an elementwise op (class kAlu) on scalars. `result` is the dtype of the result (for CAST and BITCAST
/// the target). Requires operands as shape_rules would accept them. Returns nothing for EXP2, LOG2 and SIN, whose
/// exact value belongs to the prelude of the renderer, so that folding never differs from running.
std::optional<Scalar> evaluate(Op op, DType result, std::span<const Scalar> operands);

/// The identity of a reduction: ADD 0, MUL 1, MAX the lowest value (-inf), MIN the highest (+inf).
Scalar reduce_identity(Op op, DType dtype);

}  // namespace uop
