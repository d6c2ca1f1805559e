#include "tests/reference/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/support/status.h"

namespace uop::reference {
namespace {

/// A binary format: significant bits, and the exponents e of its least normal (0.5 * 2^e) and of the power of two that
/// is over its range (2^e).
struct Format {
  int precision;
  int least;
  int over;
};

Format format(DType dtype) {
  switch (dtype) {
    case DType::kF16: return {11, -13, 16};
    case DType::kBF16: return {8, -125, 128};
    case DType::kF32: return {24, -125, 128};
    case DType::kF64: return {53, -1021, 1024};
    default: throw BrokenInvariant("not a float dtype");
  }
}

int width(DType dtype) {
  return static_cast<int>(byte_size(dtype)) * 8;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double real(DType dtype, Bits bits) {
  const Format f = format(dtype);
  const int fraction_bits = f.precision - 1;
  const Bits fraction = bits & ((Bits{1} << fraction_bits) - 1);
  const int exponent_bits = width(dtype) - f.precision;
  const Bits highest_exponent = (Bits{1} << exponent_bits) - 1;
  const Bits exponent = (bits >> fraction_bits) & highest_exponent;
  const bool negative = ((bits >> (width(dtype) - 1)) & 1) != 0;
  double magnitude;
  if (exponent == highest_exponent)
    magnitude = fraction == 0 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<double>(fraction), f.least - f.precision);
  else
    magnitude = std::ldexp(static_cast<double>(fraction | (Bits{1} << fraction_bits)),
                           f.least - f.precision + static_cast<int>(exponent) - 1);
  return negative ? -magnitude : magnitude;
}

Bits rounded(DType dtype, long double value) {
  const Format f = format(dtype);
  const int fraction_bits = f.precision - 1;
  const int exponent_bits = width(dtype) - f.precision;
  const Bits infinity = ((Bits{1} << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(value)) return infinity | (Bits{1} << (fraction_bits - 1));
  const Bits sign = Bits{std::signbit(value)} << (width(dtype) - 1);
  const long double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, 0.5 <= m < 1
  const int last_place = std::max(exponent, f.least) - f.precision;
  const long double nearest = std::nearbyint(std::ldexp(magnitude, -last_place));  // ties to even
  // An integer below 2^precision, or 2^precision itself where rounding carried: adding the fields carries as well.
  const auto significand = static_cast<Bits>(nearest);
  const Bits biased = static_cast<Bits>(std::max(exponent, f.least) - f.least);
  const Bits pattern = (biased << fraction_bits) + significand;
  return sign | std::min(pattern, infinity);
}

Wide integer(DType dtype, Bits bits) {
  const int n = width(dtype);
  if (!is_signed(dtype) || ((bits >> (n - 1)) & 1) == 0) return static_cast<Wide>(bits);
  return static_cast<Wide>(bits) - (static_cast<Wide>(1) << n);
}

Bits wrapped(DType dtype, Wide value) {
  if (dtype == DType::kBool) return value != 0 ? 1 : 0;
  const int n = width(dtype);
  const auto low = static_cast<Bits>(value);
  return n == 64 ? low : low & ((Bits{1} << n) - 1);
}

Wide lowest(DType dtype) {
  return is_signed(dtype) ? -(static_cast<Wide>(1) << (width(dtype) - 1)) : 0;
}

Wide highest(DType dtype) {
  if (dtype == DType::kBool) return 1;
  return (static_cast<Wide>(1) << (width(dtype) - (is_signed(dtype) ? 1 : 0))) - 1;
}

Bits saturated(DType dtype, long double value) {
  if (std::isnan(value)) return 0;
  const long double truncated = std::trunc(value);
  if (truncated <= static_cast<long double>(lowest(dtype))) return wrapped(dtype, lowest(dtype));
  if (truncated >= static_cast<long double>(highest(dtype))) return wrapped(dtype, highest(dtype));
  return wrapped(dtype, static_cast<Wide>(truncated));
}

double next(DType dtype, double value, int direction) {
  if (std::isnan(value)) return value;
  if (value == 0) return direction * std::ldexp(1.0, format(dtype).least - format(dtype).precision);
  const Bits bits = rounded(dtype, value);
  if (std::isinf(value)) return (value > 0) == (direction > 0) ? value : real(dtype, bits - 1);
  return real(dtype, (value > 0) == (direction > 0) ? bits + 1 : bits - 1);
}

Bits load(DType dtype, const std::byte* at) {
  Bits bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(byte_size(dtype)));  // little-endian, as the service
  return dtype == DType::kBool ? Bits{bits != 0} : bits;
}

void store(DType dtype, Bits bits, std::byte* at) {
  std::memcpy(at, &bits, static_cast<std::size_t>(byte_size(dtype)));
}

}  // namespace uop::reference
