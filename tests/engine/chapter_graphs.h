// The graphs of the chapter, built by its conventions: REDUCE drops the trailing axes, x - y is x + y * -1, the factor
// before the EXPAND, exp(x) is EXP2(x * log2 e).
#pragma once

#include <memory>
#include <numbers>
#include <utility>

#include "core/ir/build.h"

namespace uop::chapter {

inline UOp input(Graph& g, std::int64_t slot, const Shape& shape, DType dtype = DType::kF32) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return reshape(buffer(g, slot, dtype, n), shape);
}

inline UOp scaled(UOp x, double factor) {
  return binary(Op::kMul, x, full_like(x, factor));
}
inline UOp plus(UOp x, double number) {
  return binary(Op::kAdd, x, full_like(x, number));
}
inline UOp add(UOp a, UOp b) {
  return binary(Op::kAdd, a, b);
}
inline UOp mul(UOp a, UOp b) {
  return binary(Op::kMul, a, b);
}

/// A row value (…, 1) repeated along the last axis of `like`.
inline UOp over_rows(UOp rows, UOp like) {
  return expand(rows, like.shape());
}

/// Reduction of the last axis, which stays as size 1.
inline UOp reduce_rows(Op op, UOp x) {
  Shape kept = x.shape();
  kept.back() = 1;
  return reshape(reduce(op, x, 1), kept);
}

inline UOp sub_rows(UOp x, UOp rows) {
  return add(x, over_rows(scaled(rows, -1), x));
}
inline UOp exp(UOp x) {
  return unary(Op::kExp2, scaled(x, std::numbers::log2e));
}
inline UOp relu(UOp x) {
  return where(binary(Op::kCmpLt, full_like(x, 0), x), x, full_like(x, 0));
}
inline UOp mean_rows(UOp x) {
  return scaled(reduce_rows(Op::kAdd, x), 1.0 / static_cast<double>(x.shape().back()));
}

inline UOp softmax(UOp x) {
  const UOp e = exp(sub_rows(x, reduce_rows(Op::kMax, x)));
  return mul(e, over_rows(unary(Op::kReciprocal, reduce_rows(Op::kAdd, e)), e));
}

/// (n, k) @ (k, m)
inline UOp matmul(UOp a, UOp b) {
  const std::int64_t n = a.shape()[0];
  const std::int64_t k = a.shape()[1];
  const std::int64_t m = b.shape()[1];
  const UOp ae = expand(reshape(a, {n, 1, k}), {n, m, k});
  const UOp be = expand(reshape(permute(b, {1, 0}), {1, m, k}), {n, m, k});
  return reduce(Op::kAdd, mul(ae, be), 1);
}

inline UOp square(UOp x) {
  return mul(x, x);
}

inline UOp layernorm(UOp x) {
  const UOp centred = sub_rows(x, mean_rows(x));
  const UOp variance = mean_rows(square(centred));
  const UOp scale = unary(Op::kReciprocal, unary(Op::kSqrt, plus(variance, 1e-5)));
  return mul(centred, over_rows(scale, centred));
}

/// var(-1): row sums, row sums of squared deviations, then times 1/n.
inline UOp variance(UOp x) {
  const UOp centred = sub_rows(x, mean_rows(x));
  return scaled(reduce(Op::kAdd, square(centred), 1), 1.0 / static_cast<double>(x.shape().back()));
}

inline UOp stage(UOp x) {
  return x.graph().make(Op::kStage, {x});
}
inline UOp gradient(UOp loss, UOp wrt) {
  return wrt.graph().make(Op::kGradient, {loss, wrt});
}

}  // namespace uop::chapter
