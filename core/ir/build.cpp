#include "core/ir/build.h"

#include <algorithm>
#include <bit>

namespace uop {

UOp buffer(Graph& g, std::int64_t slot, DType dtype, std::int64_t elements) {
  return g.make(Op::kBuffer, {}, {.dtype = dtype, .value = slot, .ints = {elements}});
}

UOp constant(Graph& g, Scalar value) {
  return g.make(Op::kConst, {}, {.dtype = value.dtype, .value = std::bit_cast<std::int64_t>(value.bits)});
}

UOp constant(Graph& g, DType dtype, double value) {
  return constant(g, scalar_of(dtype, value));
}
UOp constant(Graph& g, DType dtype, std::int64_t value) {
  return constant(g, scalar_of(dtype, value));
}

UOp iota(Graph& g, DType dtype, std::int64_t n) {
  return g.make(Op::kIota, {}, {.dtype = dtype, .ints = {n}});
}

UOp reshape(UOp x, const Shape& shape) {
  return x.shape() == shape ? x : x.graph().make(Op::kReshape, {x}, {.ints = shape});
}

UOp expand(UOp x, const Shape& shape) {
  return x.shape() == shape ? x : x.graph().make(Op::kExpand, {x}, {.ints = shape});
}

UOp permute(UOp x, const std::vector<std::int64_t>& order) {
  return std::is_sorted(order.begin(), order.end()) ? x : x.graph().make(Op::kPermute, {x}, {.ints = order});
}

UOp pad(UOp x, const std::vector<std::int64_t>& before_after) {
  const bool nothing = std::all_of(before_after.begin(), before_after.end(), [](std::int64_t n) { return n == 0; });
  return nothing ? x : x.graph().make(Op::kPad, {x}, {.ints = before_after});
}

UOp shrink(UOp x, const std::vector<std::int64_t>& begin_end) {
  bool nothing = begin_end.size() == 2 * x.shape().size();
  for (std::size_t i = 0; nothing && i < x.shape().size(); i++)
    nothing = begin_end[2 * i] == 0 && begin_end[2 * i + 1] == x.shape()[i];
  return nothing ? x : x.graph().make(Op::kShrink, {x}, {.ints = begin_end});
}

UOp flip(UOp x, const std::vector<std::int64_t>& flags) {
  const bool nothing = std::all_of(flags.begin(), flags.end(), [](std::int64_t f) { return f == 0; });
  return nothing ? x : x.graph().make(Op::kFlip, {x}, {.ints = flags});
}

UOp reduce(Op op, UOp x, std::int64_t trailing_axes) {
  return x.graph().make(Op::kReduce, {x}, {.op = op, .value = trailing_axes});
}

UOp cast(UOp x, DType dtype) {
  return x.dtype() == dtype ? x : x.graph().make(Op::kCast, {x}, {.dtype = dtype});
}

UOp unary(Op op, UOp x) {
  return x.graph().make(op, {x});
}

UOp binary(Op op, UOp a, UOp b) {
  return a.graph().make(op, {a, b});
}

UOp where(UOp condition, UOp a, UOp b) {
  return a.graph().make(Op::kWhere, {condition, a, b});
}

UOp full_like(UOp like, double value) {
  return broadcast_scalar(constant(like.graph(), like.dtype(), value), like.shape());
}

UOp broadcast_scalar(UOp x, const Shape& shape) {
  return expand(reshape(x, Shape(shape.size(), 1)), shape);
}

}  // namespace uop
