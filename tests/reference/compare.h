// Compares what a kernel gave with what the reference allows.
//
// `compare` is what others call.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tests/reference/tensor.h"

namespace uop::reference {

struct Comparison {
  std::size_t checked = 0;
  std::size_t skipped = 0;                // elements that are open
  std::optional<std::string> difference;  // the first element that is not as it must be, or a wrong size

  Comparison& operator+=(const Comparison& other);
};

/// An exact element must have the same bits (any NaN for a NaN; any non-zero byte for true), a bounded one must lie
/// between its bounds, an open one is skipped.
Comparison compare(std::span<const std::byte> actual, const Tensor& expected);

/// Bit equality of two results, any NaN for a NaN.
std::optional<std::string> difference(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b);

/// "1.5", "nan", "-7", with the pattern in hexadecimal.
std::string to_text(DType dtype, Bits bits);

}  // namespace uop::reference
