// The values of a dtype that rewrites go wrong on: zeros of both signs, ones, the ends of the range and their
// neighbours, denormals, infinities, NaNs, widths of shifts.
#pragma once

#include <cmath>
#include <vector>

#include "core/ir/scalar.h"

namespace uop {

/// Bits of the mantissa, without the hidden one.
inline int mantissa_bits(DType dtype) {
  return dtype == DType::kF64 ? 52 : dtype == DType::kF32 ? 23 : dtype == DType::kF16 ? 10 : 7;
}

inline std::vector<Scalar> special_values(DType dtype) {
  if (dtype == DType::kBool) return {{dtype, 0}, {dtype, 1}};
  const int width = 8 * static_cast<int>(byte_size(dtype));
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  const std::uint64_t all = top | (top - 1);
  std::vector<std::uint64_t> bits;
  if (is_float(dtype)) {
    const std::uint64_t least_normal = std::uint64_t{1} << mantissa_bits(dtype);
    const std::uint64_t infinity = (top - 1) / least_normal * least_normal;
    const std::uint64_t one = scalar_of(dtype, 1.0).bits;
    for (const std::uint64_t magnitude :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, least_normal - 1, least_normal, least_normal + 1,
          one - 1, one, one + 1, scalar_of(dtype, 0.5).bits, scalar_of(dtype, 2.5).bits, scalar_of(dtype, 255.5).bits,
          infinity - 1, infinity, infinity | least_normal >> 1, infinity | least_normal >> 1 | 1}) {
      bits.push_back(magnitude);
      bits.push_back(magnitude | top);
    }
  } else {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                      std::uint64_t{7}, static_cast<std::uint64_t>(width) - 1,
                                      static_cast<std::uint64_t>(width), top >> 1, top - 2, top - 1, top, top + 1})
      for (const std::uint64_t b : {value & all, ~value & all, -value & all}) bits.push_back(b);
  }
  std::vector<Scalar> values;
  for (const std::uint64_t b : bits) values.push_back({dtype, b});
  return values;
}

}  // namespace uop
