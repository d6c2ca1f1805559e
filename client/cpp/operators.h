// Elementwise operations on tensors and plain numbers: `x * 2 + y`, `where(x < 0, 0, x)`, `exp(x)`.
//
// Shapes broadcast; dtypes meet as promote.h says; in arithmetic a bool counts as i32. Sums and products are built as
// the compiler knows them: x - y is x + y * -1, x / y is x * RECIPROCAL(y), with the factor applied before y is
// broadcast.
#pragma once

#include "client/cpp/tensor.h"

namespace uop {

/// An operand: a tensor, or a number, which takes the tensor's dtype.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number)  // NOLINT(google-explicit-constructor)
      : fractional_(std::is_floating_point_v<T>),
        real_(static_cast<double>(number)),
        whole_(std::is_floating_point_v<T> ? 0 : static_cast<std::int64_t>(number)) {}

  const Tensor* tensor() const { return tensor_; }
  bool fractional() const { return fractional_; }
  /// A number as a scalar of `dtype`. Throws ClientError where an integer dtype cannot hold it.
  Scalar scalar(DType dtype) const;

 private:
  const Tensor* tensor_ = nullptr;
  bool fractional_ = false;
  double real_ = 0;
  std::int64_t whole_ = 0;
};

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);  // integers divide as f32
Tensor operator-(const Tensor& x);
Tensor maximum(const Operand& a, const Operand& b);  // NaN if one is NaN
Tensor minimum(const Operand& a, const Operand& b);

// Comparisons give bool tensors. Equality has names, so that == keeps its meaning for types that hold tensors.
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor equal(const Operand& a, const Operand& b);
Tensor not_equal(const Operand& a, const Operand& b);

/// `a` where `condition` holds (is not 0), else `b`.
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);

// Of integers these give f32.
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);

Tensor abs(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor square(const Tensor& x);

}  // namespace uop
