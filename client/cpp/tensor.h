// Tensor: a lazy array. Operations build a graph; `realize`, `item` and `to_vector` run it on the program's device.
//
//   auto program = std::make_shared<Program>(device);
//   Tensor x = Tensor::from<float>(program, {1, 2, 3, 4}, {2, 2});
//   std::vector<float> y = softmax(x * 2, -1).to_vector<float>();
//
// Shapes broadcast as in NumPy and dtypes meet as promote.h says; axes may count from the end (-1 is the last).
// Everything that does not fit throws ClientError. A Tensor is a handle: copies share the value, and when one is
// realized all are. A realized tensor is a leaf, and one computed from tensors that require gradients keeps what it was
// computed from for `grad` and `backward`: a loss may be read before it is differentiated.
#pragma once

#include <cstring>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "client/cpp/client_error.h"
#include "client/cpp/program.h"

namespace uop {

using Axes = std::vector<std::int64_t>;

/// The dtype that a C++ type is an element of.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr DType kTypes[2][4] = {{DType::kU8, DType::kU16, DType::kU32, DType::kU64},
                                    {DType::kI8, DType::kI16, DType::kI32, DType::kI64}};
    return kTypes[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
  return DType::kNone;
}

class Operand;  // operators.h

class Tensor {
 public:
  /// A leaf: no function of other tensors.
  Tensor(const ProgramPtr& program, UOp node) : state_(std::make_shared<TensorState>(program, node)) {}
  explicit Tensor(std::shared_ptr<TensorState> state) : state_(std::move(state)) {}
  /// The tensor of a node computed from this one and `others`, which must be of its program.
  Tensor derived(UOp node, std::initializer_list<const Tensor*> others = {}) const;

  /// Copies `values` (row-major) to the device. Their number must be that of the shape.
  template <class T>
  static Tensor from(const ProgramPtr& program, std::span<const T> values, const Shape& shape) {
    return from_bytes(program, std::as_bytes(values), dtype_of<T>(), shape);
  }
  template <class T>
  static Tensor from(const ProgramPtr& program, const std::vector<T>& values, const Shape& shape) {
    return from(program, std::span<const T>(values), shape);
  }
  template <class T>
  static Tensor from(const ProgramPtr& program, std::initializer_list<T> values, const Shape& shape) {
    return from(program, std::span<const T>(values.begin(), values.size()), shape);
  }
  /// Any dtype, little-endian; f16 and bf16 as 16-bit patterns, a bool as a byte.
  static Tensor from_bytes(const ProgramPtr& program, std::span<const std::byte> bytes, DType dtype,
                           const Shape& shape);
  /// `value` everywhere.
  static Tensor full(const ProgramPtr& program, const Shape& shape, double value, DType dtype = DType::kF32);
  /// 0, 1, …, n-1.
  static Tensor arange(const ProgramPtr& program, std::int64_t n, DType dtype = DType::kI32);

  const Shape& shape() const { return node().shape(); }
  DType dtype() const { return node().dtype(); }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape().size()); }
  std::int64_t numel() const { return node().numel(); }
  UOp node() const { return state_->node; }
  const ProgramPtr& program() const { return state_->program; }
  TensorState* state() const { return state_.get(); }

  /// Computes the value now; returns *this.
  const Tensor& realize() const;
  /// The elements, row-major. T must be the dtype's C++ type; a bool may be read as std::uint8_t, and f16 and bf16 as
  /// std::uint16_t patterns.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "read a bool tensor as std::uint8_t: std::vector<bool> has no elements");
    check_readable_as(dtype_of<T>());
    const std::vector<std::byte> raw = bytes();
    std::vector<T> values(raw.size() / sizeof(T));
    if (!raw.empty()) std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  /// The only element, as any number.
  template <class T = float>
  T item() const {
    const Scalar value = item_scalar();
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(to_double(value));
    return static_cast<T>(to_int64(value));
  }
  std::vector<std::byte> bytes() const;

  // Movement; none of these copies.
  Tensor reshape(Shape shape) const;  // one dimension may be -1: what is left
  Tensor permute(const Axes& order) const;
  Tensor transpose(std::int64_t axis_a = -2, std::int64_t axis_b = -1) const;
  Tensor expand(const Shape& shape) const;                          // axes of size 1 repeated; new axes in front
  Tensor pad(const std::vector<std::int64_t>& before_after) const;  // zeros; two numbers for each axis
  Tensor shrink(const std::vector<std::int64_t>& begin_end) const;  // two numbers for each axis
  Tensor flip(const Axes& axes) const;

  // Reductions over `axes` (empty: all); with keepdim a reduced axis stays, of size 1. bool counts as i32.
  Tensor sum(const Axes& axes = {}, bool keepdim = false) const;
  Tensor max(const Axes& axes = {}, bool keepdim = false) const;
  Tensor min(const Axes& axes = {}, bool keepdim = false) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false) const;  // of integers: f32
  Tensor var(const Axes& axes = {}, bool keepdim = false) const;   // the mean squared deviation; divides by n

  Tensor cast(DType dtype) const;
  /// The identity, stored in memory on the way: asks that a value used many times be computed once.
  Tensor contiguous() const;
  /// The identity; gradients stop here.
  Tensor detach() const;

  // Changing in place. What was built from the tensor before reads the value before.

  /// Stands for `value` from now on, broadcast to this shape and cast to this dtype; returns *this.
  const Tensor& assign(const Operand& value) const;
  const Tensor& operator+=(const Operand& value) const;
  const Tensor& operator-=(const Operand& value) const;
  const Tensor& operator*=(const Operand& value) const;
  const Tensor& operator/=(const Operand& value) const;

  // Gradients.

  bool requires_grad() const { return state_->requires_grad; }
  bool is_leaf() const { return state_->is_leaf; }
  /// Whether gradients flow to this leaf; returns *this. Only floats have gradients.
  const Tensor& set_requires_grad(bool on = true) const;
  /// Adds d this / d t to the gradient of each of `wrt`; where it is empty, of every parameter (a leaf that requires
  /// gradients) that this one element depends on. Nothing is computed yet.
  void backward(const std::vector<Tensor>& wrt = {}) const;
  /// What `backward` has summed up, if anything.
  std::optional<Tensor> grad() const;
  void zero_grad() const { state_->gradient = nullptr; }

 private:
  void check_readable_as(DType dtype) const;
  Scalar item_scalar() const;
  std::shared_ptr<TensorState> state_;
};

/// Computes all of them in one graph.
void realize(const std::vector<Tensor>& tensors);

/// The plan they have together: kernels, flops, bytes, temporaries. Compiles it, but runs nothing.
CompileReport plan_of(const std::vector<Tensor>& tensors);

/// d loss / d wrt for each of `wrt`, lazily, as the server expands it. The loss is one float element that depends on
/// each of them; throws ClientError otherwise.
std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt);

}  // namespace uop
