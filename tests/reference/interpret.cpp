#include "tests/reference/interpret.h"

#include <bit>
#include <optional>

#include "core/ir/traverse.h"
#include "tests/reference/scalar_meaning.h"

namespace uop::reference {
namespace {

/// The value of a node, and whether an addition that reads it may see a product before it was rounded: an FMA.
struct Value {
  Tensor tensor;
  bool may_be_unrounded = false;
};

class Interpreter {
 public:
  Interpreter(const Inputs& inputs, Numerics numerics) : inputs_(inputs), numerics_(numerics) {}

  Value value(UOp u, std::span<const Value* const> src) const {
    Value v{{u.dtype(), u.shape(), {}}};
    for (const Value* s : src) v.may_be_unrounded |= s->may_be_unrounded && s->tensor.dtype == u.dtype();
    switch (op_class(u.op())) {
      case OpClass::kSource: v.tensor.elements = source(u); return v;
      case OpClass::kMovement: v.tensor.elements = moved(u, src[0]->tensor); return v;
      case OpClass::kReduce:
        v.tensor.elements = reduction(u, *src[0]);
        v.may_be_unrounded |= may_fuse(u.dtype()) && u.arg().op == Op::kMul;
        return v;
      case OpClass::kIndexed:
        v.tensor.elements = u.op() == Op::kGather ? gathered(u, src) : scattered(u, src);
        return v;
      case OpClass::kAlu:
        v.tensor.elements = elementwise(u, src);
        v.may_be_unrounded = may_fuse(u.dtype()) && (is_product(u) || (v.may_be_unrounded && passes_on(u.op())));
        return v;
      case OpClass::kStage: v.tensor.elements = src[0]->tensor.elements; return v;
      case OpClass::kGradient:
        check(u.op() == Op::kDetach, "GRADIENT is expanded before it is interpreted");
        v.tensor.elements = src[0]->tensor.elements;
        return v;
      case OpClass::kLoop: break;
    }
    throw BrokenInvariant(fmt::format("{} is not an op of a graph", name(u.op())));
  }

 private:
  /// Halves are rounded by a call after each op, which no FMA reaches over.
  bool may_fuse(DType dtype) const {
    return numerics_ == Numerics::kDefault && (dtype == DType::kF32 || dtype == DType::kF64);
  }

  /// A product, or a sum that a compiler makes one: x + x is 2 * x, whatever movement ops lie between.
  static bool is_product(UOp u) {
    const auto base = [](UOp x) {
      while (is_movement(x.op())) x = x.src(0);
      return x;
    };
    return u.op() == Op::kMul || (u.op() == Op::kAdd && base(u.src(0)) == base(u.src(1)));
  }

  /// Elementwise ops that a compiler may look through from an addition to a product.
  static bool passes_on(Op op) { return op == Op::kNeg || op == Op::kAbs || op == Op::kWhere; }

  /// The elements as an addition may see them.
  std::vector<Element> addends(const Value& v) const {
    std::vector<Element> elements = v.tensor.elements;
    if (v.may_be_unrounded)
      for (Element& e : elements) e = widened_by_ulps(v.tensor.dtype, e, 1);
    return elements;
  }

  std::vector<Element> source(UOp u) const {
    const Arg& arg = u.arg();
    switch (u.op()) {
      case Op::kBuffer: {
        const auto found = inputs_.buffers.find(arg.value);
        check(found != inputs_.buffers.end(), "a BUFFER has no input");
        Tensor t = tensor_of(u.dtype(), found->second);
        check(t.shape == u.shape(), "an input is not of its BUFFER's size");
        return t.elements;
      }
      case Op::kConst: return {exact(u.dtype(), std::bit_cast<Bits>(arg.value))};
      case Op::kIota: {
        std::vector<Element> elements;
        for (std::int64_t i = 0; i < arg.ints[0]; i++) {
          const Bits bits = std::bit_cast<Bits>(i);
          elements.push_back(exact(u.dtype(), meaning(Op::kCast, u.dtype(), DType::kI64, {&bits, 1})));
        }
        return elements;
      }
      case Op::kVariable: {
        const auto found = inputs_.variables.find(arg.value);
        check(found != inputs_.variables.end(), "a VARIABLE has no value");
        return {exact(u.dtype(), wrapped(u.dtype(), found->second))};
      }
      default: throw BrokenInvariant("not a source");
    }
  }

  /// Where the element of a movement op at `index` comes from; nothing where PAD put a zero.
  static std::optional<Shape> origin(UOp u, Shape index) {
    const std::vector<std::int64_t>& ints = u.arg().ints;
    const Shape& from = u.src(0).shape();
    Shape at = index;
    for (std::size_t axis = 0; axis < index.size(); axis++) {
      switch (u.op()) {
        case Op::kPermute: at[static_cast<std::size_t>(ints[axis])] = index[axis]; break;
        case Op::kExpand:
          if (from[axis] == 1) at[axis] = 0;
          break;
        case Op::kPad:
          at[axis] = index[axis] - ints[2 * axis];
          if (at[axis] < 0 || at[axis] >= from[axis]) return std::nullopt;
          break;
        case Op::kShrink: at[axis] = index[axis] + ints[2 * axis]; break;
        case Op::kFlip:
          if (ints[axis] != 0) at[axis] = from[axis] - 1 - index[axis];
          break;
        default: throw BrokenInvariant("not a movement op");
      }
    }
    return at;
  }

  static std::vector<Element> moved(UOp u, const Tensor& x) {
    if (u.op() == Op::kReshape) return x.elements;
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < u.numel(); i++) {
      const std::optional<Shape> at = origin(u, index_at(u.shape(), i));
      elements.push_back(at ? x.elements.at(static_cast<std::size_t>(position_of(x.shape, *at))) : exact(x.dtype, 0));
    }
    return elements;
  }

  std::vector<Element> reduction(UOp u, const Value& x) const {
    const bool is_sum = u.arg().op == Op::kAdd;
    const std::vector<Element> from = is_sum ? addends(x) : x.tensor.elements;
    const Shape& shape = x.tensor.shape;
    const std::int64_t length = count(Shape(shape.end() - u.arg().value, shape.end()));
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < u.numel(); i++)
      elements.push_back(reduced(
          *u.arg().op, u.dtype(),
          std::span(from).subspan(static_cast<std::size_t>(i * length), static_cast<std::size_t>(length)), numerics_));
    return elements;
  }

  /// The index tensor's element as a place on an axis of n; nothing where it is outside or not determined.
  static std::optional<std::int64_t> place(const Tensor& index, std::size_t at, std::int64_t n) {
    const Element& e = index.elements.at(at);
    const Wide i = integer(index.dtype, e.bits);
    if (e.open || i < 0 || i >= n) return std::nullopt;
    return static_cast<std::int64_t>(i);
  }

  static std::vector<Element> gathered(UOp u, std::span<const Value* const> src) {
    const Tensor& x = src[0]->tensor;
    const Tensor& index = src[1]->tensor;
    const auto axis = static_cast<std::size_t>(u.arg().value);
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < u.numel(); i++) {
      Shape at = index_at(u.shape(), i);
      const auto from = place(index, static_cast<std::size_t>(i), x.shape[axis]);
      Element e = exact(x.dtype, 0);
      if (from) {
        at[axis] = *from;
        e = x.elements.at(static_cast<std::size_t>(position_of(x.shape, at)));
      }
      e.open = e.open || index.elements[static_cast<std::size_t>(i)].open;
      elements.push_back(e);
    }
    return elements;
  }

  std::vector<Element> scattered(UOp u, std::span<const Value* const> src) const {
    const bool adds = u.arg().op == Op::kAdd;
    const Tensor& index = src[1]->tensor;
    const std::vector<Element> values = adds ? addends(*src[2]) : src[2]->tensor.elements;
    std::vector<Element> elements = src[0]->tensor.elements;
    const auto axis = static_cast<std::size_t>(u.arg().value);
    for (std::size_t i = 0; i < values.size(); i++) {  // row-major: in index order along the axis
      Shape at = index_at(index.shape, static_cast<std::int64_t>(i));
      if (index.elements[i].open) {  // may go anywhere on its line
        for (at[axis] = 0; at[axis] < u.shape()[axis]; at[axis]++)
          elements[static_cast<std::size_t>(position_of(u.shape(), at))].open = true;
        continue;
      }
      const auto to = place(index, i, u.shape()[axis]);
      if (!to) continue;
      at[axis] = *to;
      Element& e = elements.at(static_cast<std::size_t>(position_of(u.shape(), at)));
      const Element pair[] = {src[0]->may_be_unrounded ? widened_by_ulps(u.dtype(), e, 1) : e, values[i]};
      e = adds ? apply(Op::kAdd, u.dtype(), u.dtype(), pair) : values[i];
    }
    return elements;
  }

  std::vector<Element> elementwise(UOp u, std::span<const Value* const> src) const {
    const bool is_sum = u.op() == Op::kAdd || u.op() == Op::kSub;
    std::vector<std::vector<Element>> operands;
    for (const Value* s : src) operands.push_back(is_sum ? addends(*s) : s->tensor.elements);
    std::vector<Element> elements;
    std::vector<Element> x(src.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(u.numel()); i++) {
      for (std::size_t k = 0; k < src.size(); k++) x[k] = operands[k].at(i);
      elements.push_back(apply(u.op(), u.dtype(), src.back()->tensor.dtype, x));
    }
    return elements;
  }

  const Inputs& inputs_;
  const Numerics numerics_;
};

}  // namespace

std::vector<Tensor> interpret(std::span<const UOp> roots, const Inputs& inputs, Numerics numerics) {
  const Interpreter interpreter(inputs, numerics);
  std::map<std::uint32_t, Value> values;
  for (const UOp u : toposort(roots)) {
    std::vector<const Value*> src;
    for (const UOp s : u.src()) src.push_back(&values.at(s.id()));
    values.emplace(u.id(), interpreter.value(u, src));
  }
  std::vector<Tensor> results;
  for (const UOp r : roots) results.push_back(values.at(r.id()).tensor);
  return results;
}

}  // namespace uop::reference
