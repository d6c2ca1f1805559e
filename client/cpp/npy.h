// Arrays in .npy files, format versions 1.0 to 3.0 of numpy.lib.format: `read_npy` and `write_npy`.
//
// Little-endian, C order. A Fortran-ordered or big-endian file is refused with what to do; so is every header that does
// not fit the bytes after it. f16 is '<f2'; NumPy has no bf16, so it is '<V2', two opaque bytes, as ml_dtypes writes
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/uop.h"
#include "core/support/status.h"

namespace uop {

struct NpyArray {
  DType dtype = DType::kNone;
  Shape shape;
  std::vector<std::byte> bytes;  // row-major
};

/// Errors: INVALID_ARGUMENT that says what is wrong with the content.
StatusOr<NpyArray> parse_npy(std::string_view content);
/// The content of a version 1.0 file. Requires bytes that fit dtype and shape.
std::string format_npy(const NpyArray& array);

/// Errors: NOT_FOUND for a file that cannot be read; as parse_npy, with the path.
StatusOr<NpyArray> read_npy(const std::string& path);
/// Errors: FAILED_PRECONDITION for a file that cannot be written, with the path and the reason.
Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace uop
