// Conversions between dtypes, and the text of a value.
//
// Every source is exactly an f64, an i64 or a u64, so three conversions to each dtype are all there is. Each rounds
// once.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/ir/scalar_bits.h"

namespace uop {
namespace {

/// A double that rounds to a half just as the integer does: bits that a double cannot hold are folded into one below
/// the last place that matters ("round to odd").
double odd_double(std::uint64_t magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const std::uint64_t low = magnitude & 0x7ff;
  return static_cast<double>((magnitude - low) | (low != 0 ? 0x800u : 0u));
}

template <class T>
T saturated(double value) {
  // Both bounds are powers of two (or zero), so they are exact doubles, unlike the greatest 64-bit integers.
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  const double whole = std::trunc(value);
  if (std::isnan(value)) return 0;
  if (whole < kLow) return std::numeric_limits<T>::min();
  if (whole >= kEnd) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

template <class Integer>
Scalar from_integer(DType dtype, Integer value) {
  if (is_half(dtype)) {
    const bool negative = value < 0;
    const auto wide = static_cast<std::uint64_t>(value);
    const double magnitude = odd_double(negative ? 0 - wide : wide);
    return scalar_of(dtype, negative ? -magnitude : magnitude);
  }
  return visit_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>)
      return pack(dtype, value != 0);
    else
      return pack(dtype, static_cast<T>(value));  // integers wrap, floats round to nearest even
  });
}

}  // namespace

Scalar scalar_of(DType dtype, double value) {
  if (dtype == DType::kF16) return {dtype, f16_of(value)};
  if (dtype == DType::kBF16) return {dtype, bf16_of(value)};
  return visit_type(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>)
      return pack(dtype, value != 0);
    else if constexpr (std::is_integral_v<T>)
      return pack(dtype, saturated<T>(value));
    else
      return pack(dtype, static_cast<T>(value));
  });
}

Scalar scalar_of(DType dtype, std::int64_t value) {
  return from_integer(dtype, value);
}
Scalar scalar_of(DType dtype, std::uint64_t value) {
  return from_integer(dtype, value);
}

Scalar cast(DType dtype, Scalar s) {
  if (dtype == s.dtype) return s;
  if (is_float(s.dtype)) return scalar_of(dtype, to_double(s));
  if (is_signed(s.dtype)) return scalar_of(dtype, to_int64(s));
  return scalar_of(dtype, s.bits);
}

double to_double(Scalar s) {
  return visit_type(s.dtype, [&]<class T>(T) { return static_cast<double>(unpack<T>(s)); });
}

std::int64_t to_int64(Scalar s) {
  return visit_type(s.dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      return saturated<std::int64_t>(unpack<T>(s));
    else
      return static_cast<std::int64_t>(unpack<T>(s));
  });
}

bool is_nan(Scalar s) {
  return is_float(s.dtype) && std::isnan(to_double(s));
}

std::string to_string(Scalar s) {
  if (s.dtype == DType::kBool) return s.bits != 0 ? "true" : "false";
  if (is_nan(s)) return "nan";  // to_chars would write the sign
  std::array<char, 40> text{};
  const auto written = [&](std::to_chars_result end) { return std::string(text.data(), end.ptr); };
  if (is_half(s.dtype)) {
    for (int digits = 1; digits < 9; ++digits) {
      const std::string tried =
          written(std::to_chars(text.begin(), text.end(), to_double(s), std::chars_format::general, digits));
      double read = to_double(s);
      std::from_chars(tried.data(), tried.data() + tried.size(), read);
      if (scalar_of(s.dtype, read) == s) return tried;
    }
  }
  return visit_type(s.dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>)
      return std::string();
    else
      return written(std::to_chars(text.begin(), text.end(), unpack<T>(s)));
  });
}

}  // namespace uop
