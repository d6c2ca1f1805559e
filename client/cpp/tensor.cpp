#include "client/cpp/tensor.h"

#include <algorithm>
#include <unordered_set>

#include "client/cpp/axes.h"
#include "client/cpp/operators.h"
#include "client/cpp/promote.h"
#include "core/ir/build.h"
#include "core/ir/shape_rules.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

bool reaches(UOp from, UOp target) {
  const std::vector<UOp> nodes = toposort(std::span(&from, 1));
  return std::find(nodes.begin(), nodes.end(), target) != nodes.end();
}

/// The node of `wrt` that `loss` depends on: what it stands for, or stood for before it was realized.
UOp reached_node(UOp loss, const Tensor& wrt, std::size_t i) {
  for (const UOp candidate : {wrt.node(), wrt.state()->before, wrt.program()->with_history(wrt.node())})
    if (candidate && reaches(loss, candidate)) return candidate;
  throw_invalid(
      "the loss does not depend on tensor {} ({}) of those to differentiate by; was it changed in place after the loss "
      "was built from it?",
      i, type_text(wrt.dtype(), wrt.shape()));
}

std::vector<TensorState*> states_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorState*> states;
  for (const Tensor& tensor : tensors) {
    if (tensor.program() != tensors.front().program())
      throw_invalid("tensors of different programs cannot be computed together; take each program's own");
    states.push_back(tensor.state());
  }
  return states;
}

}  // namespace

Tensor Tensor::from_bytes(const ProgramPtr& program, std::span<const std::byte> bytes, DType dtype,
                          const Shape& shape) {
  if (dtype == DType::kNone) throw_invalid("a tensor needs a dtype; give one, or elements of a type that has one");
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || (size > 0 && elements > kMaxElements / size))
      throw_invalid("shape {} has a negative or too big dimension; give the size of each axis", shape_text(shape));
    elements *= size;
  }
  const TensorSpec tensor{dtype, elements};
  if (bytes.size() != tensor.bytes())
    throw_invalid("{} takes {} elements; got {}", type_text(dtype, shape), elements,
                  static_cast<std::int64_t>(bytes.size()) / byte_size(dtype));
  return Tensor(program, program->leaf(value_or_throw(program->device().put(bytes, tensor)), shape));
}

Tensor Tensor::full(const ProgramPtr& program, const Shape& shape, double value, DType dtype) {
  const UOp one = constant(program->graph(), dtype, value);
  const UOp grown = uop::reshape(one, Shape(shape.size(), 1));
  return Tensor(program, grown.shape() == shape ? grown : checked_node(Op::kExpand, {grown}, {.ints = shape}));
}

Tensor Tensor::arange(const ProgramPtr& program, std::int64_t n, DType dtype) {
  return Tensor(program, value_or_throw(program->graph().try_make(Op::kIota, {}, {.dtype = dtype, .ints = {n}})));
}

const Tensor& Tensor::realize() const {
  uop::realize({*this});
  return *this;
}

std::vector<std::byte> Tensor::bytes() const {
  realize();
  return value_or_throw(program()->device().get(program()->buffer_of(node())));
}

void Tensor::check_readable_as(DType wanted) const {
  const bool pattern = (is_half(dtype()) && wanted == DType::kU16) || (dtype() == DType::kBool && wanted == DType::kU8);
  if (wanted != dtype() && !pattern)
    throw_invalid("a {} tensor read as {}; cast it first, or read it as its own type", name(dtype()), name(wanted));
}

Scalar Tensor::item_scalar() const {
  if (numel() != 1)
    throw_invalid("item() reads the only element, but {} has {}; use to_vector()", type_text(dtype(), shape()),
                  numel());
  const std::vector<std::byte> raw = bytes();
  Scalar value{dtype(), 0};
  std::memcpy(&value.bits, raw.data(), raw.size());
  if (dtype() == DType::kBool) value.bits = value.bits != 0 ? 1 : 0;
  return value;
}

Tensor Tensor::cast(DType to) const {
  return dtype() == to ? *this : derived(checked_node(Op::kCast, {node()}, {.dtype = to}));
}

Tensor Tensor::contiguous() const {
  return derived(unary(Op::kStage, node()));
}

Tensor Tensor::detach() const {
  Tensor result = derived(unary(Op::kDetach, node()));
  result.state_->requires_grad = false;
  return result;
}

void realize(const std::vector<Tensor>& tensors) {
  if (!tensors.empty()) tensors.front().program()->realize(states_of(tensors));
}

CompileReport plan_of(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw_invalid("there is no plan of no tensors; name at least one");
  return tensors.front().program()->compile(states_of(tensors));
}

std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt) {
  const UOp from = loss.program()->with_history(loss.node());
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < wrt.size(); ++i)
    gradients.push_back(wrt[i].derived(checked_node(Op::kGradient, {from, reached_node(from, wrt[i], i)}), {&loss}));
  return gradients;
}

Tensor Tensor::derived(UOp node, std::initializer_list<const Tensor*> others) const {
  bool needs = requires_grad();
  for (const Tensor* other : others) {
    if (other->program() != program()) throw_invalid("the operands belong to different programs; make both in one");
    needs |= other->requires_grad();
  }
  needs &= is_float(node.dtype());
  if (needs && NoGrad::active()) node = unary(Op::kDetach, node);
  Tensor result(program(), node);
  result.state_->requires_grad = needs && !NoGrad::active();
  result.state_->is_leaf = false;
  return result;
}

const Tensor& Tensor::assign(const Operand& value) const {
  const Tensor* other = value.tensor();
  UOp u = other ? other->node() : constant(program()->graph(), value.scalar(dtype()));
  const bool needs = other && other->requires_grad() && !NoGrad::active();
  if (other && other->requires_grad() && !needs) u = unary(Op::kDetach, u);
  if (broadcast_shape(u.shape(), shape()) != shape())
    throw_invalid("{} does not broadcast to {}; assign keeps the shape", type_text(u.dtype(), u.shape()),
                  type_text(dtype(), shape()));
  if (is_leaf() && requires_grad() && needs)
    throw_invalid("a parameter is changed by what depends on gradients; detach the value, or use NoGrad");
  state_->node = uop::cast(broadcast_to(u, shape()), dtype());
  state_->before = UOp();
  if (!is_leaf() || needs) {
    state_->requires_grad = needs;
    state_->is_leaf = !needs && is_leaf();
  }
  return *this;
}

const Tensor& Tensor::operator+=(const Operand& value) const {
  return assign(*this + value);
}
const Tensor& Tensor::operator-=(const Operand& value) const {
  return assign(*this - value);
}
const Tensor& Tensor::operator*=(const Operand& value) const {
  return assign(*this * value);
}
const Tensor& Tensor::operator/=(const Operand& value) const {
  return assign(*this / value);
}

const Tensor& Tensor::set_requires_grad(bool on) const {
  if (on && !is_float(dtype()))
    throw_invalid("only float tensors have gradients, not {}; cast it", type_text(dtype(), shape()));
  state_->is_leaf |= on && !state_->requires_grad;
  state_->requires_grad = on;
  return *this;
}

void Tensor::backward(const std::vector<Tensor>& wrt) const {
  std::vector<Tensor> targets = wrt;
  if (wrt.empty()) {
    const UOp from = program()->with_history(node());
    const std::vector<UOp> order = toposort({&from, 1});
    const std::unordered_set<UOp, UOpHash> under(order.begin(), order.end());
    for (const std::shared_ptr<TensorState>& state : program()->parameters())
      if (under.contains(state->node) || (state->before && under.contains(state->before))) targets.emplace_back(state);
    if (targets.empty()) throw_invalid("{} depends on no tensor that requires gradients", type_text(dtype(), shape()));
  }
  const std::vector<Tensor> gradients = uop::grad(*this, targets);
  for (std::size_t i = 0; i < targets.size(); i++) {
    TensorState& target = *targets[i].state();
    const Tensor sum = target.gradient
                           ? gradients[i].derived(binary(Op::kAdd, target.gradient->node, gradients[i].node()))
                           : gradients[i];
    sum.state_->requires_grad = false;
    target.gradient = sum.state_;
  }
}

std::optional<Tensor> Tensor::grad() const {
  if (!state_->gradient) return std::nullopt;
  return Tensor(state_->gradient);
}

}  // namespace uop
