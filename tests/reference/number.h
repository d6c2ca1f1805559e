// Numbers of every dtype as bit patterns, and back. The reference has its own conversions, written to be obviously
// right rather than fast, so that a mistake in core/ir/scalar.cpp is not repeated here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/ir/dtype.h"

namespace uop::reference {

/// A value's pattern in the low byte_size(dtype) bytes, zero above; a bool is 0 or 1.
using Bits = std::uint64_t;

/// Holds every value of every integer dtype, and the sum, difference and quotient of any two.
__extension__ typedef __int128 Wide;

/// The value of a pattern of a float dtype, exactly.
double real(DType dtype, Bits bits);

/// The value of a pattern of a bool or an integer dtype, exactly.
Wide integer(DType dtype, Bits bits);

/// `value` rounded once to a float dtype: to nearest, ties to even, over the range to infinity. Every NaN becomes the
/// same quiet NaN.
Bits rounded(DType dtype, long double value);

/// The low bits of `value` as an integer dtype; for bool: value != 0.
Bits wrapped(DType dtype, Wide value);

/// The nearest value of the integer dtype to the truncated `value`; 0 for NaN.
Bits saturated(DType dtype, long double value);

/// Lowest and highest value of an integer dtype; 0 and 1 for bool.
Wide lowest(DType dtype);
Wide highest(DType dtype);

/// The next value of the float dtype from `value` (a value of it) towards `direction` (negative: down, positive: up).
double next(DType dtype, double value, int direction);

/// One pattern from memory, as the service reads it (any non-zero byte is true), and to memory.
Bits load(DType dtype, const std::byte* at);
void store(DType dtype, Bits bits, std::byte* at);

}  // namespace uop::reference
