// The reductions of Tensor. REDUCE takes trailing axes, so others are permuted to the end first.
#include <algorithm>

#include "client/cpp/axes.h"
#include "client/cpp/operators.h"
#include "client/cpp/promote.h"
#include "core/ir/build.h"

namespace uop {
namespace {

/// The axes that stay, in order, then those in `reduced`.
Axes reduced_last(const Axes& reduced, std::int64_t rank) {
  Axes order;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (!std::binary_search(reduced.begin(), reduced.end(), axis)) order.push_back(axis);
  order.insert(order.end(), reduced.begin(), reduced.end());
  return order;
}

Tensor reduced(Op op, const Tensor& x, const Axes& axes, bool keepdim) {
  const Axes normal = normal_axes(axes, x.rank());
  if (normal.empty()) return x;
  const Tensor ordered = x.permute(reduced_last(normal, x.rank()));
  const Arg arg{.op = op, .value = static_cast<std::int64_t>(normal.size())};
  const Tensor result = ordered.derived(checked_node(Op::kReduce, {ordered.node()}, arg));
  if (!keepdim) return result;
  Shape kept = x.shape();
  for (const std::int64_t axis : normal) kept[static_cast<std::size_t>(axis)] = 1;
  return result.reshape(kept);
}

/// The sum over `axes` divided by the number of its elements. A division: 1/n is not a number of the dtype, and a
/// product with it that an FMA leaves unrounded would show in x - mean. Halves are divided before they are rounded,
/// since their sum may be beyond their range.
Tensor average(const Tensor& x, const Axes& axes, bool keepdim) {
  double count = 1;
  for (const std::int64_t axis : normal_axes(axes, x.rank()))
    count *= static_cast<double>(x.shape()[static_cast<std::size_t>(axis)]);
  const UOp sum = x.cast(is_half(x.dtype()) ? DType::kF32 : x.dtype()).sum(axes, keepdim).node();
  return x.derived(binary(Op::kDiv, sum, full_like(sum, count))).cast(x.dtype());
}

}  // namespace

Tensor Tensor::sum(const Axes& axes, bool keepdim) const {
  return reduced(Op::kAdd, cast(arithmetic_dtype(dtype())), axes, keepdim);
}

Tensor Tensor::max(const Axes& axes, bool keepdim) const {
  return reduced(Op::kMax, *this, axes, keepdim);
}

Tensor Tensor::min(const Axes& axes, bool keepdim) const {
  return reduced(Op::kMin, *this, axes, keepdim);
}

Tensor Tensor::mean(const Axes& axes, bool keepdim) const {
  return average(cast(float_dtype(dtype())), axes, keepdim);
}

Tensor Tensor::var(const Axes& axes, bool keepdim) const {
  const Tensor x = cast(float_dtype(dtype()));
  return average(square(x - x.mean(axes, true)), axes, keepdim);
}

}  // namespace uop
