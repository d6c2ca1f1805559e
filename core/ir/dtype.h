// Element types. One row each in dtypes.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace uop {

enum class DType : std::uint8_t {
  kNone = 0,
#define DTYPE(enumerator, number, name, bytes, kind, c_value, c_memory) enumerator = number,
#include "core/ir/dtypes.inc"
#undef DTYPE
};

enum class DTypeKind : std::uint8_t { kBool = 1, kSigned = 2, kUnsigned = 4, kFloat = 8 };

/// A row of the table.
struct DTypeRow {
  DType dtype;
  std::string_view name;  // "f32"
  std::int64_t bytes;     // size in memory
  DTypeKind kind;
  std::string_view c_value;   // C type a value is computed in
  std::string_view c_memory;  // C type of an element of a buffer
};

/// All rows in wire-number order.
std::span<const DTypeRow> dtype_rows();

/// The row of `dtype`; throws BrokenInvariant for kNone.
const DTypeRow& row(DType dtype);

std::optional<DType> dtype_of_number(std::uint32_t number);
std::optional<DType> dtype_of_name(std::string_view name);

inline std::string_view name(DType dtype) {
  return dtype == DType::kNone ? "none" : row(dtype).name;
}
inline std::int64_t byte_size(DType dtype) {
  return row(dtype).bytes;
}
inline bool is_float(DType dtype) {
  return row(dtype).kind == DTypeKind::kFloat;
}
inline bool is_integer(DType dtype) {
  return row(dtype).kind == DTypeKind::kSigned || row(dtype).kind == DTypeKind::kUnsigned;
}
inline bool is_signed(DType dtype) {
  return row(dtype).kind == DTypeKind::kSigned;
}
/// f16 and bf16: 16 bits in memory, computed in f32 and rounded after each op.
inline bool is_half(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

}  // namespace uop
