#include "core/ir/op.h"

#include <unordered_map>

namespace uop {
namespace {

constexpr OpRow kRows[] = {
#define OP(enumerator, number, name, arity, cls, kinds, result, laws, cost, c, help) \
  {Op::enumerator, number, name, arity, OpClass::cls, kinds, OpResult::result, laws, cost, c, help},
#include "core/ir/ops.inc"
#undef OP
};

}  // namespace

std::span<const OpRow> op_rows() {
  return kRows;
}

const OpRow& row(Op op) {
  return kRows[static_cast<std::size_t>(op)];
}

std::optional<Op> op_of_number(std::uint32_t number) {
  static const std::unordered_map<std::uint32_t, Op> by_number = [] {
    std::unordered_map<std::uint32_t, Op> map;
    for (const OpRow& r : kRows)
      if (r.number != 0) map.emplace(r.number, r.op);
    return map;
  }();
  const auto found = by_number.find(number);
  return found == by_number.end() ? std::nullopt : std::optional<Op>(found->second);
}

std::optional<Op> op_of_name(std::string_view name) {
  for (const OpRow& r : kRows)
    if (r.name == name) return r.op;
  return std::nullopt;
}

bool accepts(Op op, DType dtype) {
  const std::string_view kinds = row(op).kinds;
  switch (row(dtype).kind) {
    case DTypeKind::kBool: return kinds.find('B') != std::string_view::npos;
    case DTypeKind::kSigned:
    case DTypeKind::kUnsigned: return kinds.find('I') != std::string_view::npos;
    case DTypeKind::kFloat: return kinds.find('F') != std::string_view::npos;
  }
  return false;
}

}  // namespace uop
