#include "core/grad/derivatives.h"

#include <numbers>

#include "core/ir/build.h"
#include "core/ir/shape_rules.h"
#include "core/ir/text.h"

namespace uop {
namespace {

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
  check(false, "a movement op without a derivative");
  return g;
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

Status no_derivative(UOp u, std::string_view remedy) {
  return invalid_argument("GRADIENT reaches {}, which has no derivative here\n> {}\nremedy: {}", name(u.op()),
                          node_text(u, [](UOp s) { return type_text(s.dtype(), s.shape()); }), remedy);
}

}  // namespace

bool passes_gradient(UOp u, std::size_t i) {
  if (!is_float(u.dtype()) || !is_float(u.src(i).dtype())) return false;
  switch (u.op()) {
    case Op::kDetach:
    case Op::kTrunc:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound: return false;
    default: return true;
  }
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
    case Op::kSin: return mul(g, unary(Op::kSin, binary(Op::kAdd, x, full_like(x, std::numbers::pi / 2))));
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
      if (u.arg().op == Op::kMul) return no_derivative(u, "write the product as exp2 of a sum of log2, or DETACH it");
      return reduced_extreme_derivative(u, g);
    case Op::kGather:
      return g.graph().make(Op::kScatter, {full_like(x, 0), u.src(1), g}, {.op = Op::kAdd, .value = u.arg().value});
    case Op::kScatter:
      if (u.arg().op) return i == 0 ? g : g.graph().make(Op::kGather, {g, u.src(1)}, {.value = u.arg().value});
      if (i == 0) return g.graph().make(Op::kScatter, {g, u.src(1), full_like(u.src(2), 0)}, {.value = u.arg().value});
      return no_derivative(u, "use SCATTER with ADD, or DETACH its source");
    case Op::kBitcast: return no_derivative(u, "use CAST, or DETACH it");
    default: break;
  }
  return no_derivative(u, "DETACH it");
}

}  // namespace uop
