// What the argument of each op holds: one row an op that takes any, all other ops take none. The text form prints by
// these names, and every reader of graphs (wire, text, structure) asks `check_argument` before it makes a node.
#pragma once

#include <array>
#include <map>
#include <string_view>

#include "core/ir/uop.h"

namespace uop {

/// Slots are positions of a request's inputs, or of its variables.
inline constexpr std::int64_t kMaxSlot = 1'000'000;
/// Most numbers of an argument: PAD and SHRINK take two for each of at most kMaxRank (32) axes.
inline constexpr std::size_t kMaxInts = 64;

/// The fields of Arg that an op takes, by name; an empty name: not taken. Arg::dtype is taken where the row of the op
/// has OpResult::kArg.
struct ArgFields {
  Op op = {};
  std::string_view value = {};                   // Arg::value
  std::array<std::string_view, 2> numbers = {};  // Arg::ints where each has a name of its own
  std::string_view list = {};                    // Arg::ints where they are one list
  bool takes_op = false;                         // Arg::op
};

const ArgFields& arg_fields(Op op);
inline bool takes_dtype(Op op) {
  return row(op).result == OpResult::kArg;
}
/// True for the ops that Arg::op may name: ADD, MUL, MAX, MIN.
bool is_reduce_op(Op op);

/// That a field the op does not take is at its default, Arg::op is a reduction, the slot of a BUFFER or VARIABLE is
/// within 0..kMaxSlot, there are not too many numbers, and a CONST has no bits beyond its dtype. What the numbers
/// mean for the sources is for shape_rules.h. Errors: INVALID_ARGUMENT that names the field.
Status check_argument(Op op, const Arg& arg);

/// The slots of one graph; a slot stands for one input of one dtype and size (one variable of one range).
class SlotTable {
 public:
  /// Notes a BUFFER or VARIABLE; passes any other node. Errors: INVALID_ARGUMENT where an unlike node has its slot.
  Status add(UOp u);

 private:
  std::map<std::pair<Op, std::int64_t>, UOp> taken_;
};

}  // namespace uop
