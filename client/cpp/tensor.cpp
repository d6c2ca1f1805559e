#include "client/cpp/tensor.h"

#include <algorithm>

#include "client/cpp/axes.h"
#include "core/ir/build.h"
#include "core/ir/shape_rules.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

bool reaches(UOp from, UOp target) {
  const std::vector<UOp> nodes = toposort(std::span(&from, 1));
  return std::find(nodes.begin(), nodes.end(), target) != nodes.end();
}

/// The node of `wrt` that `loss` depends on. A realized tensor has two: the leaf, and what it was computed by.
UOp reached_node(UOp loss, const Tensor& wrt, std::size_t i) {
  for (const UOp candidate : {wrt.node(), wrt.state()->history})
    if (candidate && reaches(loss, candidate)) return candidate;
  throw_invalid(
      "the loss does not depend on tensor {} ({}) of those to differentiate by; if it was realized after the loss was "
      "built from it, call grad first and realize both together",
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
  return dtype() == to ? *this : Tensor(program(), checked_node(Op::kCast, {node()}, {.dtype = to}));
}

Tensor Tensor::contiguous() const {
  return Tensor(program(), unary(Op::kStage, node()));
}

Tensor Tensor::detach() const {
  return Tensor(program(), unary(Op::kDetach, node()));
}

void realize(const std::vector<Tensor>& tensors) {
  if (!tensors.empty()) tensors.front().program()->realize(states_of(tensors));
}

CompileReport plan_of(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw_invalid("there is no plan of no tensors; name at least one");
  return tensors.front().program()->compile(states_of(tensors));
}

std::vector<Tensor> grad(const Tensor& loss, const std::vector<Tensor>& wrt) {
  const UOp history = loss.state()->history;
  const UOp from = history ? history : loss.node();
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < wrt.size(); ++i)
    gradients.emplace_back(loss.program(), checked_node(Op::kGradient, {from, reached_node(from, wrt[i], i)}));
  return gradients;
}

}  // namespace uop
