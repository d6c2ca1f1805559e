// The 16-bit floats as bit patterns: f16 (IEEE binary16, with denormals and infinities) and bf16 (the upper half of an
// f32). Narrowing rounds once, to nearest even, from a double; every float and every half is exactly a double.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace uop {

/// `value` in a 16-bit format of kMantissa explicit mantissa bits. A NaN keeps its sign and the top of its payload.
template <int kMantissa>
constexpr std::uint16_t narrow_to_half(double value) {
  constexpr int kBias = (1 << (14 - kMantissa)) - 1;
  constexpr std::uint64_t kInfinity = (0x7fffu >> kMantissa) << kMantissa;
  constexpr std::uint64_t kQuiet = 1u << (kMantissa - 1);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63 << 15;
  const std::uint64_t fraction = bits & ((1ull << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024) {
    const std::uint64_t payload = fraction == 0 ? 0 : fraction >> (52 - kMantissa) | kQuiet;
    return static_cast<std::uint16_t>(sign | kInfinity | payload);
  }
  const int scale = std::max(exponent, 1 - kBias);  // of the last place; denormals share that of the least normal
  const int dropped = 52 - kMantissa + scale - exponent;
  if (dropped > 53) return static_cast<std::uint16_t>(sign);  // under half of the least denormal
  const std::uint64_t significand = fraction | 1ull << 52;
  const std::uint64_t rest = significand & ((1ull << dropped) - 1);
  const std::uint64_t half = 1ull << (dropped - 1);
  std::uint64_t kept = significand >> dropped;
  if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
  // A carry out of the mantissa moves into the exponent, as it must.
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(scale + kBias - 1) << kMantissa) + kept;
  return static_cast<std::uint16_t>(sign | std::min(magnitude, kInfinity));
}

constexpr std::uint16_t f16_of(double value) {
  return narrow_to_half<10>(value);
}
constexpr std::uint16_t bf16_of(double value) {
  return narrow_to_half<7>(value);
}

constexpr float float_of_bf16(std::uint16_t half) {
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}

constexpr float float_of_f16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  std::uint32_t bits = 0;
  if (magnitude < 0x400) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);  // zero or denormal
  } else {
    const std::uint32_t rebias = magnitude < 0x7c00 ? 127 - 15 : 255 - 31;
    bits = (magnitude << 13) + (rebias << 23);
  }
  return std::bit_cast<float>(sign | bits);
}

}  // namespace uop
