#include "tests/reference/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reference/scalar_meaning.h"

namespace uop::reference {
namespace {

/// Relative size of one unit in the last place, and the range, of an accumulator's dtype.
struct Precision {
  long double unit;
  long double largest;
  long double least_normal;
};

template <class F>
Precision precision_of() {
  using Limits = std::numeric_limits<F>;
  return {Limits::epsilon(), Limits::max(), Limits::min()};
}

Precision precision(DType dtype) {
  return dtype == DType::kF64 ? precision_of<double>() : precision_of<float>();
}

long double magnitude(const Element& e) {
  return std::max(std::fabs(e.low), std::fabs(e.high));
}

Element made_open(Element e) {
  e.open = true;
  return e;
}

/// The sum where any order may have been taken: each order is within n u sum |x| of the exact one.
Element any_order_sum(DType dtype, const Element& sum, std::span<const Element> elements) {
  const Precision p = precision(dtype);
  long double total = 0;
  for (const Element& e : elements)
    if (std::isfinite(magnitude(e))) total += magnitude(e);
  if (total >= p.largest / 2 && !std::isnan(sum.low)) return made_open(sum);  // some order may overflow on the way
  if (!std::isfinite(sum.low)) return sum;
  return widened(dtype, sum, static_cast<long double>(elements.size()) * p.unit * total);
}

/// The product where any order may have been taken: the relative error is within n u, unless some order leaves the
/// normal range on the way.
Element any_order_product(DType dtype, const Element& product, std::span<const Element> elements) {
  const Precision p = precision(dtype);
  long double up = 0;  // log2 of the greatest and the least partial product of any order
  long double down = 0;
  for (const Element& e : elements) {
    if (e.low == 0 && e.high == 0) continue;
    if (!std::isfinite(magnitude(e))) continue;
    if (e.low <= 0 && e.high >= 0) return made_open(product);
    up += std::max(0.0L, std::log2(magnitude(e)));
    down += std::min(0.0L, std::log2(std::min(std::fabs(static_cast<long double>(e.low)),
                                              std::fabs(static_cast<long double>(e.high)))));
  }
  if (std::isnan(product.low)) return product;
  if (up >= std::log2(p.largest) - 1 || down <= std::log2(p.least_normal) + 1) return made_open(product);
  if (!std::isfinite(product.low)) return product;
  return widened(dtype, product, static_cast<long double>(elements.size()) * p.unit * magnitude(product));
}

/// The greatest or least where any order may have been taken: only the sign of a zero depends on it.
Element any_order_extreme(const Element& extreme, std::span<const Element> elements) {
  if (extreme.open || extreme.low != 0 || extreme.high != 0) return extreme;
  Element e = extreme;
  for (const Element& x : elements) {
    if (x.low == 0 && std::signbit(x.low)) e.low = -0.0;
    if (x.high == 0 && !std::signbit(x.high)) e.high = 0.0;
  }
  return e;
}

}  // namespace

Element reduced(Op op, DType dtype, std::span<const Element> elements, Numerics numerics) {
  const DType wide = is_half(dtype) ? DType::kF32 : dtype;
  const auto convert = [](DType to, DType from, const Element& e) {
    return to == from ? e : apply(Op::kCast, to, from, {&e, 1});
  };
  Element accumulator = exact(wide, identity(op, wide));
  for (const Element& e : elements) {
    const Element pair[] = {accumulator, convert(wide, dtype, e)};
    accumulator = apply(op, wide, wide, pair);
  }
  const bool order_is_free = numerics == Numerics::kDefault && is_float(dtype) && elements.size() > 1;
  const bool changes = op == Op::kMax || op == Op::kMin || elements.size() > 2;
  if (order_is_free && changes && !accumulator.open) {
    if (op == Op::kAdd) accumulator = any_order_sum(wide, accumulator, elements);
    if (op == Op::kMul) accumulator = any_order_product(wide, accumulator, elements);
    if (op == Op::kMax || op == Op::kMin) accumulator = any_order_extreme(accumulator, elements);
  }
  return convert(dtype, wide, accumulator);
}

}  // namespace uop::reference
