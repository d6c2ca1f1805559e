#include "core/ir/dtype.h"

#include "core/support/status.h"

namespace uop {
namespace {

constexpr DTypeRow kRows[] = {
#define DTYPE(enumerator, number, name, bytes, kind, c_value, c_memory) \
  {DType::enumerator, name, bytes, DTypeKind::kind, c_value, c_memory},
#include "core/ir/dtypes.inc"
#undef DTYPE
};

}  // namespace

std::span<const DTypeRow> dtype_rows() {
  return kRows;
}

const DTypeRow& row(DType dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  check(number >= 1 && number <= std::size(kRows), "a dtype is missing");
  return kRows[number - 1];
}

std::optional<DType> dtype_of_number(std::uint32_t number) {
  if (number < 1 || number > std::size(kRows)) return std::nullopt;
  return kRows[number - 1].dtype;
}

std::optional<DType> dtype_of_name(std::string_view name) {
  for (const DTypeRow& r : kRows)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

}  // namespace uop
