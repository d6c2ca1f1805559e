#include "core/grad/derivatives.h"

#include <algorithm>
#include <numbers>

#include "core/ir/build.h"
#include "core/ir/shape_rules.h"
#include "core/ir/text.h"

namespace uop {
namespace {

/// Up to so many factors the derivative of a product is exact to any order.
constexpr std::int64_t kExactProduct = 256;

UOp mul(UOp a, UOp b) {
  return binary(Op::kMul, a, b);
}
UOp scaled(UOp a, double factor) {
  return mul(a, full_like(a, factor));
}
UOp reciprocal(UOp a) {
  return unary(Op::kReciprocal, a);
}

/// `small` (a reduction's result) repeated over the trailing axes of `like`.
UOp spread(UOp small, UOp like) {
  Shape shape = small.shape();
  shape.resize(like.shape().size(), 1);
  return expand(reshape(small, shape), like.shape());
}

/// The sum over the axes that an EXPAND repeated: those go last, are reduced, and come back as size 1.
UOp sum_of_copies(UOp expand_node, UOp g) {
  const Shape& from = expand_node.src(0).shape();
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> copied;
  for (std::size_t i = 0; i < from.size(); i++)
    (from[i] == g.shape()[i] ? order : copied).push_back(static_cast<std::int64_t>(i));
  order.insert(order.end(), copied.begin(), copied.end());
  const UOp sum = reduce(Op::kAdd, permute(g, order), static_cast<std::int64_t>(copied.size()));
  return reshape(sum, from);
}

UOp movement_derivative(UOp u, UOp g) {
  const Shape& from = u.src(0).shape();
  const std::vector<std::int64_t>& ints = u.arg().ints;
  std::vector<std::int64_t> back(ints.size());
  switch (u.op()) {
    case Op::kReshape: return reshape(g, from);
    case Op::kExpand: return sum_of_copies(u, g);
    case Op::kPermute:
      for (std::size_t i = 0; i < ints.size(); i++)
        back[static_cast<std::size_t>(ints[i])] = static_cast<std::int64_t>(i);
      return permute(g, back);
    case Op::kFlip: return flip(g, ints);
    case Op::kPad:
      for (std::size_t i = 0; i < from.size(); i++) {
        back[2 * i] = ints[2 * i];
        back[2 * i + 1] = ints[2 * i] + from[i];
      }
      return shrink(g, back);
    case Op::kShrink:
      for (std::size_t i = 0; i < from.size(); i++) {
        back[2 * i] = ints[2 * i];
        back[2 * i + 1] = from[i] - ints[2 * i + 1];
      }
      return pad(g, back);
    default: break;
  }
  throw BrokenInvariant("a movement op without a derivative");
}

/// MAX and MIN: to the operand that was taken; to both, half each, where they are equal.
UOp extreme_derivative(UOp u, std::size_t i, UOp g) {
  const UOp mine = u.src(i);
  const UOp other = u.src(1 - i);
  const UOp wins = u.op() == Op::kMax ? binary(Op::kCmpLt, other, mine) : binary(Op::kCmpLt, mine, other);
  const UOp tie = where(binary(Op::kCmpEq, mine, other), scaled(g, 0.5), full_like(g, 0));
  return where(wins, g, tie);
}

/// A reduction by MAX or MIN: shared equally by all elements that reach the extreme.
UOp reduced_extreme_derivative(UOp u, UOp g) {
  const UOp x = u.src(0);
  const UOp one = full_like(x, 1);
  const UOp hit = where(binary(Op::kCmpEq, x, spread(u, x)), one, full_like(x, 0));
  const UOp share = mul(g, reciprocal(reduce(Op::kAdd, hit, u.arg().value)));
  return mul(hit, spread(share, x));
}

/// sin' = cos = 1 - 2 sin(x/2)^2: x/2 is exact, where x + pi/2 would be rounded to the precision of a large x.
UOp cosine(UOp x) {
  const UOp s = unary(Op::kSin, scaled(x, 0.5));
  return binary(Op::kAdd, scaled(mul(s, s), -2), full_like(s, 1));
}

/// 0, 1, 2, … along one axis of `shape`.
UOp positions(Graph& g, DType dtype, const Shape& shape, std::size_t axis) {
  Shape along(shape.size(), 1);
  along[axis] = shape[axis];
  return expand(reshape(iota(g, dtype, shape[axis]), along), shape);
}

/// For each element of (…, n): the product of the n - 1 others, exactly, also where some are 0: n^2 operations.
UOp product_of_others(UOp x) {
  Shape square = x.shape();
  const std::int64_t n = square.back();
  square.push_back(n);
  Shape repeated = x.shape();
  repeated.insert(repeated.end() - 1, 1);
  const UOp factors = expand(reshape(x, repeated), square);
  const UOp own = binary(Op::kCmpEq, positions(x.graph(), DType::kI64, square, square.size() - 2),
                         positions(x.graph(), DType::kI64, square, square.size() - 1));
  return reduce(Op::kMul, where(own, full_like(factors, 1), factors), 1);
}

/// The same in time proportional to n, by division. Where a factor is 0 it is right itself, but not its derivative.
UOp quotient_by_each(UOp x) {
  const UOp is_zero = binary(Op::kCmpEq, x, full_like(x, 0));
  const UOp factors = where(is_zero, full_like(x, 1), x);
  Shape kept = x.shape();
  kept.back() = 1;
  const UOp product = expand(reshape(reduce(Op::kMul, factors, 1), kept), x.shape());
  const UOp zeros = cast(is_zero, DType::kI64);
  const UOp zeros_of_others = binary(Op::kSub, expand(reshape(reduce(Op::kAdd, zeros, 1), kept), x.shape()), zeros);
  return where(binary(Op::kCmpEq, zeros_of_others, full_like(zeros, 0)), binary(Op::kDiv, product, factors),
               full_like(x, 0));
}

/// A reduction by MUL: times the product of the others.
UOp product_derivative(UOp u, UOp g) {
  const UOp x = u.src(0);
  Shape flat = u.shape();
  flat.push_back(x.numel() / std::max<std::int64_t>(1, u.numel()));
  const UOp rows = reshape(x, flat);
  const UOp others = flat.back() <= kExactProduct ? product_of_others(rows) : quotient_by_each(rows);
  return mul(spread(g, x), reshape(others, x.shape()));
}

/// The source of a SCATTER that stores: where two elements go to one place, the last one stays, and has the gradient.
UOp stored_derivative(UOp u, UOp g) {
  Graph& graph = g.graph();
  const auto axis = static_cast<std::size_t>(u.arg().value);
  const UOp index = u.src(1);
  const UOp order = positions(graph, DType::kI64, index.shape(), axis);
  const UOp nobody = broadcast_scalar(constant(graph, DType::kI64, std::int64_t{-1}), u.shape());
  const UOp last = graph.make(Op::kScatter, {nobody, index, order}, {.value = u.arg().value});
  const UOp stays = binary(Op::kCmpEq, graph.make(Op::kGather, {last, index}, {.value = u.arg().value}), order);
  const UOp there = graph.make(Op::kGather, {g, index}, {.value = u.arg().value});
  return where(stays, there, full_like(there, 0));
}

Status no_derivative(UOp u, std::string_view remedy) {
  return invalid_argument("GRADIENT reaches {}, which has no derivative\n> {}\nremedy: {}", name(u.op()),
                          node_text(u, [](UOp s) { return type_text(s.dtype(), s.shape()); }), remedy);
}

}  // namespace

bool passes_gradient(UOp u, std::size_t i) {
  if (!is_float(u.dtype()) || !is_float(u.src(i).dtype())) return false;
  return u.op() != Op::kDetach && !has_law(u.op(), 'f');
}

StatusOr<UOp> derivative(UOp u, std::size_t i, UOp g) {
  if (is_movement(u.op())) return movement_derivative(u, g);
  const UOp x = u.src(0);
  switch (u.op()) {
    case Op::kStage: return g;
    case Op::kCast: return cast(g, x.dtype());
    case Op::kNeg: return unary(Op::kNeg, g);
    case Op::kAbs:
      return where(binary(Op::kCmpLt, x, full_like(x, 0)), unary(Op::kNeg, g),
                   where(binary(Op::kCmpLt, full_like(x, 0), x), g, full_like(g, 0)));
    case Op::kReciprocal: return unary(Op::kNeg, mul(g, mul(u, u)));
    case Op::kSqrt: return mul(g, scaled(reciprocal(u), 0.5));
    case Op::kExp2: return mul(g, scaled(u, std::numbers::ln2));
    case Op::kLog2: return mul(g, scaled(reciprocal(x), std::numbers::log2e));
    case Op::kSin: return mul(g, cosine(x));
    case Op::kAdd: return g;
    case Op::kSub: return i == 0 ? g : unary(Op::kNeg, g);
    case Op::kMul: return mul(g, u.src(1 - i));
    case Op::kDiv:
      return i == 0 ? binary(Op::kDiv, g, u.src(1)) : unary(Op::kNeg, binary(Op::kDiv, mul(g, u), u.src(1)));
    case Op::kMax:
    case Op::kMin: return extreme_derivative(u, i, g);
    case Op::kWhere: return i == 1 ? where(x, g, full_like(g, 0)) : where(x, full_like(g, 0), g);
    case Op::kReduce:
      if (u.arg().op == Op::kAdd) return spread(g, x);
      if (u.arg().op == Op::kMul) return product_derivative(u, g);
      return reduced_extreme_derivative(u, g);
    case Op::kGather:
      return g.graph().make(Op::kScatter, {full_like(x, 0), u.src(1), g}, {.op = Op::kAdd, .value = u.arg().value});
    case Op::kScatter:
      if (u.arg().op) return i == 0 ? g : g.graph().make(Op::kGather, {g, u.src(1)}, {.value = u.arg().value});
      if (i == 0) return g.graph().make(Op::kScatter, {g, u.src(1), full_like(u.src(2), 0)}, {.value = u.arg().value});
      return stored_derivative(u, g);
    case Op::kBitcast: return no_derivative(u, "use CAST, or DETACH it");
    case Op::kDetach:
    case Op::kTrunc:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kNot:
    case Op::kMod:
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
    case Op::kCmpLt:
    case Op::kCmpLe:
    case Op::kCmpEq:
    case Op::kCmpNe: break;     // no gradient passes: flat, of integers, or a bool
    case Op::kGradient: break;  // the innermost are expanded first
    case Op::kReshape:
    case Op::kPermute:
    case Op::kExpand:
    case Op::kPad:
    case Op::kShrink:
    case Op::kFlip: break;  // above
    case Op::kBuffer:
    case Op::kConst:
    case Op::kIota:
    case Op::kVariable: break;  // no sources
    case Op::kParam:
    case Op::kRange:
    case Op::kLoad:
    case Op::kAccumulate:
    case Op::kStore:
    case Op::kSink: break;  // made later
  }
  throw BrokenInvariant(fmt::format("the derivative of {} was asked for", name(u.op())));
}

}  // namespace uop
