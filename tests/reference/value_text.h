// Elements as text, for rows of tests: "1 -0 nan inf 0x7e00", separated by spaces; a number in hexadecimal is the bit
// pattern.
#pragma once

#include <string_view>

#include "tests/reference/tensor.h"

namespace uop::reference {

/// Throws BrokenInvariant for text that is not a number.
Bytes bytes_of_text(DType dtype, std::string_view text);

/// "1 nan -7": so that a failed row can be read.
std::string text_of_bytes(DType dtype, const Bytes& bytes);

}  // namespace uop::reference
