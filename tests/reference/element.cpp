#include "tests/reference/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/reference/scalar_meaning.h"

namespace uop::reference {
namespace {

Element open(Bits bits) {
  return {.bits = bits, .open = true};
}

bool same(double a, double b) {
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (std::isnan(a) && std::isnan(b));
}

bool finite(const Element& e) {
  return std::isfinite(e.low) && std::isfinite(e.high);
}

bool contains_zero(const Element& e) {
  return e.low <= 0 && 0 <= e.high;
}

/// Orders -0 before +0, so that bounds [-0, +0] are not taken for an exact zero.
bool below(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// All that `op` gives where each operand is one of its bounds; requires float operands.
std::vector<Bits> corners(Op op, DType result, DType operand, std::span<const Element> x) {
  std::vector<Bits> values;
  for (unsigned corner = 0; corner < 1u << x.size(); corner++) {
    std::vector<Bits> at;
    for (std::size_t i = 0; i < x.size(); i++)
      at.push_back(rounded(operand, (corner >> i & 1) != 0 ? x[i].high : x[i].low));
    values.push_back(meaning(op, result, operand, at));
  }
  return values;
}

/// The bounds around `values`, for an op that is monotone in each operand.
Element hull(DType result, Bits bits, const std::vector<Bits>& values) {
  if (!is_float(result)) {
    const bool decided = std::all_of(values.begin(), values.end(), [&](Bits v) { return v == values.front(); });
    return decided ? exact(result, values.front()) : open(bits);
  }
  Element e{.bits = bits, .low = real(result, values.front())};
  e.high = e.low;
  bool all_same = true;
  for (const Bits v : values) {
    const double at = real(result, v);
    all_same = all_same && same(at, e.low);
    if (below(at, e.low)) e.low = at;
    if (below(e.high, at)) e.high = at;
    if (!std::isfinite(at)) e.open = true;  // unless it is the same in every corner
  }
  return all_same ? exact(result, values.front()) : e;
}

Element choose(const Element& condition, const Element& yes, const Element& no) {
  if (!condition.open) return condition.bits != 0 ? yes : no;
  const bool no_matter = !yes.open && !no.open && same(yes.low, no.low) && same(yes.high, no.high);
  return no_matter && yes.bits == no.bits ? yes : open(condition.bits != 0 ? yes.bits : no.bits);
}

Element approximate(Op op, DType dtype, Bits bits, const Element& x) {
  if (is_half(dtype)) {  // the f32 function, then rounded
    const Element wide = apply(Op::kCast, DType::kF32, dtype, {&x, 1});
    const Element result = apply(op, DType::kF32, DType::kF32, {&wide, 1});
    return apply(Op::kCast, dtype, DType::kF32, {&result, 1});
  }
  Element e = hull(dtype, bits, corners(op, dtype, dtype, {&x, 1}));
  if (e.open || !finite(e)) return e;
  if (op == Op::kSin) {  // not monotone, but it changes no faster than its operand
    e.low = e.high = real(dtype, bits);
    e = widened(dtype, e, static_cast<long double>(x.high) - x.low);
  }
  return widened_by_ulps(dtype, e, kApproximateUlps);
}

}  // namespace

Element exact(DType dtype, Bits bits) {
  const double value = is_float(dtype) ? real(dtype, bits) : 0;
  return {.bits = bits, .low = value, .high = value};
}

bool is_exact(const Element& e) {
  return !e.open && same(e.low, e.high);
}

Element apply(Op op, DType result, DType operand, std::span<const Element> x) {
  if (op == Op::kWhere) return choose(x[0], x[1], x[2]);
  std::vector<Bits> values;
  bool all_exact = true;
  bool any_open = false;
  for (const Element& e : x) {
    values.push_back(e.bits);
    all_exact = all_exact && is_exact(e);
    any_open = any_open || e.open;
  }
  const Bits bits = meaning(op, result, operand, values);
  if (any_open) return open(bits);
  if (is_approximate(op)) return approximate(op, result, bits, x[0]);
  const bool unspecified_nan = op == Op::kBitcast && is_float(operand) && std::isnan(x[0].low);
  if (all_exact) return unspecified_nan ? open(bits) : exact(result, bits);

  const bool is_quotient = op == Op::kDiv || op == Op::kReciprocal;
  const Element& last = x.back();
  if (op == Op::kBitcast) return open(bits);
  if (is_quotient && !is_exact(last) && contains_zero(last)) return open(bits);
  if (op == Op::kCast && result == DType::kBool && contains_zero(last) && last.low != last.high) return open(bits);
  if (op == Op::kCmpEq || op == Op::kCmpNe) {
    const bool apart = !(x[0].low <= x[1].high && x[1].low <= x[0].high);  // also where one is NaN
    const bool both_zero = x[0].low == 0 && x[0].high == 0 && x[1].low == 0 && x[1].high == 0;
    return apart || both_zero ? exact(result, bits) : open(bits);
  }
  Element e = hull(result, bits, corners(op, result, operand, x));
  if (op == Op::kAbs && contains_zero(last)) e.low = 0;
  return e;
}

Element widened(DType dtype, const Element& e, long double amount) {
  if (e.open || std::isnan(e.low)) return e;
  Element wide = e;
  wide.low = real(dtype, rounded(dtype, e.low - amount));
  wide.high = real(dtype, rounded(dtype, e.high + amount));
  wide.open = !finite(wide);
  return wide;
}

Element widened_by_ulps(DType dtype, const Element& e, int ulps) {
  if (e.open || std::isnan(e.low)) return e;
  Element wide = e;
  for (int i = 0; i < ulps; i++) {
    wide.low = next(dtype, wide.low, -1);
    wide.high = next(dtype, wide.high, 1);
  }
  wide.open = !finite(wide);
  return wide;
}

}  // namespace uop::reference
