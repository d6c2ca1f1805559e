// The ops. One row each in ops.inc; this header gives the enum and access to the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/ir/dtype.h"

namespace uop {

enum class Op : std::uint8_t {
#define OP(enumerator, number, name, arity, cls, kinds, result, laws, cost, c, help) enumerator,
#include "core/ir/ops.inc"
#undef OP
};

enum class OpClass : std::uint8_t { kSource, kMovement, kReduce, kStage, kGradient, kIndexed, kAlu, kLoop };
enum class OpResult : std::uint8_t { kSame, kBool, kArg, kNone };

/// A row of the table; the columns are described in ops.inc.
struct OpRow {
  Op op;
  std::uint32_t number;
  std::string_view name;
  int arity;
  OpClass cls;
  std::string_view kinds;
  OpResult result;
  std::string_view laws;
  int cost;
  std::string_view c;
  std::string_view help;
};

/// All rows in table order.
std::span<const OpRow> op_rows();

const OpRow& row(Op op);
inline std::string_view name(Op op) {
  return row(op).name;
}
inline OpClass op_class(Op op) {
  return row(op).cls;
}
/// True where the row's laws have this letter.
inline bool has_law(Op op, char law) {
  return row(op).laws.find(law) != std::string_view::npos;
}
inline bool is_alu(Op op) {
  return op_class(op) == OpClass::kAlu;
}
inline bool is_movement(Op op) {
  return op_class(op) == OpClass::kMovement;
}

/// The op of a wire number; nothing for 0 and unknown numbers.
std::optional<Op> op_of_number(std::uint32_t number);
std::optional<Op> op_of_name(std::string_view name);

/// True where operands of `dtype` are allowed by the row's kinds.
bool accepts(Op op, DType dtype);

}  // namespace uop
