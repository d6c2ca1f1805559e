#include "client/cpp/algorithms.h"

#include <limits>

#include "client/cpp/axes.h"
#include "client/cpp/operators.h"
#include "client/cpp/promote.h"
#include "core/ir/shape_rules.h"

namespace uop {
namespace {

/// The leading axes of a stack of matrices.
Shape batch_of(const Tensor& x) {
  return Shape(x.shape().begin(), x.shape().end() - 2);
}

Tensor with_shape(const Tensor& x, Shape batch, std::initializer_list<std::int64_t> matrix) {
  batch.insert(batch.end(), matrix);
  return x.reshape(batch);
}

Tensor without_axis(const Tensor& x, std::int64_t axis) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + normal_axis(axis, x.rank()));
  return x.reshape(shape);
}

/// The first index along `axis` where x equals its extreme, or is NaN, where that is the extreme.
Tensor first_index_of(const Tensor& x, const Tensor& extreme, std::int64_t axis, bool keepdim) {
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  Shape along(x.shape().size(), 1);
  along[static_cast<std::size_t>(axis)] = n;
  const DType dtype = n <= std::numeric_limits<std::int32_t>::max() ? DType::kI32 : DType::kI64;
  Tensor hit = equal(x, extreme);
  if (is_float(x.dtype())) hit = where(equal(x, x), hit, Tensor::full(x.program(), {}, 1, DType::kBool));
  const Tensor index = Tensor::arange(x.program(), n, dtype).reshape(along);
  return where(hit, index, Tensor::full(x.program(), {}, static_cast<double>(n), dtype)).min({axis}, keepdim);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0)
    throw_invalid("matmul of {} and {}: both need an axis; multiply by a scalar with *", shape_text(a.shape()),
                  shape_text(b.shape()));
  if (a.rank() == 1) return without_axis(matmul(a.reshape({1, a.numel()}), b), b.rank() == 1 ? 0 : -2);
  if (b.rank() == 1) return without_axis(matmul(a, b.reshape({b.numel(), 1})), -1);

  const std::int64_t n = *(a.shape().end() - 2);
  const std::int64_t k = a.shape().back();
  const std::int64_t m = b.shape().back();
  if (*(b.shape().end() - 2) != k)
    throw_invalid("matmul of {} and {}: the last axis of the first is {}, the last but one of the second {}",
                  shape_text(a.shape()), shape_text(b.shape()), k, *(b.shape().end() - 2));
  return (with_shape(a, batch_of(a), {n, 1, k}) * with_shape(b.transpose(), batch_of(b), {1, m, k})).sum({-1});
}

Tensor softmax(const Tensor& x, std::int64_t axis) {
  const Tensor e = exp(x - x.max({axis}, true));
  return e / e.sum({axis}, true);
}

Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  const Tensor shifted = x - x.max({axis}, true);
  return shifted - log(exp(shifted).sum({axis}, true));
}

Tensor layernorm(const Tensor& x, double epsilon) {
  return (x - x.mean({-1}, true)) * rsqrt(x.var({-1}, true) + epsilon);
}

Tensor argmax(const Tensor& x, std::int64_t axis, bool keepdim) {
  const std::int64_t normal = normal_axis(axis, x.rank());
  return first_index_of(x, x.max({normal}, true), normal, keepdim);
}

Tensor argmin(const Tensor& x, std::int64_t axis, bool keepdim) {
  const std::int64_t normal = normal_axis(axis, x.rank());
  return first_index_of(x, x.min({normal}, true), normal, keepdim);
}

Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index) {
  return x.derived(checked_node(Op::kGather, {x.node(), index.node()}, {.value = normal_axis(axis, x.rank())}),
                   {&index});
}

}  // namespace uop
