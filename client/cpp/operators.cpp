#include "client/cpp/operators.h"

#include <array>
#include <numbers>

#include "client/cpp/axes.h"
#include "client/cpp/promote.h"
#include "core/ir/build.h"

namespace uop {
namespace {

/// The dtype two operands meet in.
DType common_dtype(const Operand& a, const Operand& b) {
  if (a.tensor() && b.tensor()) return promote(a.tensor()->dtype(), b.tensor()->dtype());
  if (a.tensor()) return promote_number(a.tensor()->dtype(), b.fractional());
  if (b.tensor()) return promote_number(b.tensor()->dtype(), a.fractional());
  return a.fractional() || b.fractional() ? DType::kF32 : DType::kI32;
}

const ProgramPtr& program_of(const Operand& a, const Operand& b) {
  const Tensor* tensor = a.tensor() ? a.tensor() : b.tensor();
  if (!tensor) throw_invalid("an operation on two plain numbers; make one of them a tensor");
  if (a.tensor() && b.tensor() && a.tensor()->program() != b.tensor()->program())
    throw_invalid("the operands belong to different programs; make both in one");
  return tensor->program();
}

UOp node_of(const Operand& operand, Graph& graph, DType dtype) {
  return operand.tensor() ? operand.tensor()->cast(dtype).node() : constant(graph, operand.scalar(dtype));
}

/// op(x, more…) where a constant stays one: x - 2 is x + -2.
UOp folded(Op op, UOp x, std::initializer_list<Scalar> more = {}) {
  std::vector<UOp> src{x};
  std::vector<Scalar> scalars{{x.dtype(), static_cast<std::uint64_t>(x.arg().value)}};
  for (const Scalar s : more) {
    scalars.push_back(s);
    src.push_back(broadcast_scalar(constant(x.graph(), s), x.shape()));
  }
  if (x.op() == Op::kConst) return constant(x.graph(), evaluate(op, x.dtype(), scalars).value());
  return checked_node(op, std::move(src));
}

UOp negated(UOp x) {
  return folded(Op::kMul, x, {scalar_of(x.dtype(), std::int64_t{-1})});
}

/// The result of an operation on `a` and `b`, of which one is a tensor.
Tensor derived_from(const Operand& a, const Operand& b, UOp node) {
  if (a.tensor() && b.tensor()) return a.tensor()->derived(node, {b.tensor()});
  return (a.tensor() ? a.tensor() : b.tensor())->derived(node);
}

/// op(a, after(b)) in `dtype`.
Tensor binary_in(DType dtype, Op op, const Operand& a, const Operand& b, UOp (*after)(UOp) = nullptr) {
  const ProgramPtr& program = program_of(a, b);
  const UOp right = node_of(b, program->graph(), dtype);
  const UOp left = node_of(a, program->graph(), dtype);
  const UOp last = after ? after(right) : right;
  const Shape shape = broadcast_shape(left.shape(), last.shape());
  return derived_from(a, b, checked_node(op, {broadcast_to(left, shape), broadcast_to(last, shape)}));
}

Tensor arithmetic(Op op, const Operand& a, const Operand& b, UOp (*after)(UOp) = nullptr) {
  return binary_in(arithmetic_dtype(common_dtype(a, b)), op, a, b, after);
}

Tensor comparison(Op op, const Operand& a, const Operand& b) {
  return binary_in(common_dtype(a, b), op, a, b);
}

Tensor of_float(Op op, const Tensor& x) {
  return x.derived(unary(op, x.cast(float_dtype(x.dtype())).node()));
}

}  // namespace

Scalar Operand::scalar(DType dtype) const {
  if (fractional_) return scalar_of(dtype, real_);
  const Scalar value = scalar_of(dtype, whole_);
  if (!is_float(dtype) && to_int64(value) != whole_)
    throw_invalid("{} does not fit into a {} tensor; cast the tensor to a wider type", whole_, uop::name(dtype));
  return value;
}

Tensor operator+(const Operand& a, const Operand& b) {
  return arithmetic(Op::kAdd, a, b);
}
Tensor operator-(const Operand& a, const Operand& b) {
  return arithmetic(Op::kAdd, a, b, negated);
}
Tensor operator*(const Operand& a, const Operand& b) {
  return arithmetic(Op::kMul, a, b);
}
Tensor operator/(const Operand& a, const Operand& b) {
  const DType dtype = float_dtype(common_dtype(a, b));
  return binary_in(dtype, Op::kMul, a, b, [](UOp y) { return folded(Op::kReciprocal, y); });
}
Tensor operator-(const Tensor& x) {
  return x * -1;
}
Tensor maximum(const Operand& a, const Operand& b) {
  return binary_in(common_dtype(a, b), Op::kMax, a, b);
}
Tensor minimum(const Operand& a, const Operand& b) {
  return binary_in(common_dtype(a, b), Op::kMin, a, b);
}

Tensor operator<(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpLt, a, b);
}
Tensor operator<=(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpLe, a, b);
}
Tensor operator>(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpLt, b, a);
}
Tensor operator>=(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpLe, b, a);
}
Tensor equal(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpEq, a, b);
}
Tensor not_equal(const Operand& a, const Operand& b) {
  return comparison(Op::kCmpNe, a, b);
}

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  for (const Tensor* t : {a.tensor(), b.tensor()})
    if (t) program_of(condition, *t);
  Graph& graph = condition.program()->graph();
  const DType dtype = common_dtype(a, b);
  std::array<UOp, 3> src{condition.cast(DType::kBool).node(), node_of(a, graph, dtype), node_of(b, graph, dtype)};
  const Shape shape = broadcast_shape(src[0].shape(), broadcast_shape(src[1].shape(), src[2].shape()));
  for (UOp& u : src) u = broadcast_to(u, shape);
  const UOp chosen = checked_node(Op::kWhere, {src[0], src[1], src[2]});
  if (!a.tensor() && !b.tensor()) return condition.derived(chosen);
  return derived_from(a, b, chosen);
}

Tensor exp2(const Tensor& x) {
  return of_float(Op::kExp2, x);
}
Tensor log2(const Tensor& x) {
  return of_float(Op::kLog2, x);
}
Tensor exp(const Tensor& x) {
  return exp2(x * std::numbers::log2e);
}
Tensor log(const Tensor& x) {
  return log2(x) * std::numbers::ln2;
}
Tensor sin(const Tensor& x) {
  return of_float(Op::kSin, x);
}
Tensor sqrt(const Tensor& x) {
  return of_float(Op::kSqrt, x);
}
Tensor reciprocal(const Tensor& x) {
  return of_float(Op::kReciprocal, x);
}
Tensor rsqrt(const Tensor& x) {
  return reciprocal(sqrt(x));
}

Tensor abs(const Tensor& x) {
  return x.derived(unary(Op::kAbs, x.cast(arithmetic_dtype(x.dtype())).node()));
}
Tensor relu(const Tensor& x) {
  return where(0 < x, x, 0);
}
Tensor square(const Tensor& x) {
  return x * x;
}

}  // namespace uop
