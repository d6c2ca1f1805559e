// An element of a value as the reference knows it: what the graph says as written, and between what bounds a kernel
// may come out instead.
//
// The model. Where a program is fully determined (numerics=strict and no EXP2, LOG2 or SIN) every element is exact:
// low = high = the value, and a kernel must give that bit pattern (any NaN for a NaN). Two things widen an element:
//   - EXP2, LOG2 and SIN: kApproximateUlps units in the last place on either side;
//   - under the default numerics, sums of more than two elements, by the error any order of summation may make
//     (2 n u sum |x|, u half a unit of the accumulator's dtype), and products that an FMA may leave unrounded, by one
//     unit in the last place.
// From there the bounds go through every op: rounding is monotone, so an op that is monotone in each operand maps
// corners to corners and needs no widening of its own; cancellation shows as what it is. Where the bounds straddle a
// decision (a comparison, a cast to an integer, a pole, overflow) the element is open: its value is not checked, and
// it is counted, so that a test that checks too little fails.
#pragma once

#include <span>

#include "core/ir/op.h"
#include "tests/reference/number.h"

namespace uop::reference {

/// How far, in units in the last place, a kernel's EXP2, LOG2 and SIN may be from the correctly rounded value.
inline constexpr int kApproximateUlps = 3;

struct Element {
  Bits bits = 0;   // as written: each op rounded, sums in order
  double low = 0;  // floats only
  double high = 0;
  bool open = false;  // not determined by the graph; not checked
};

Element exact(DType dtype, Bits bits);
bool is_exact(const Element& e);

/// `op` on elements; the dtypes are as in `meaning`.
Element apply(Op op, DType result, DType operand, std::span<const Element> x);

/// The element with its bounds moved outwards by `amount`, to numbers of the dtype; open where that overflows.
Element widened(DType dtype, const Element& e, long double amount);
/// The same by units in the last place, as of a product that was not rounded.
Element widened_by_ulps(DType dtype, const Element& e, int ulps);

}  // namespace uop::reference
