// The rewrite engine: rules as lines of text, matched against nodes.
//
// A pattern is prefix text: "ADD (ADD x c) d". x, y, z match any value (the same value where they repeat); c and d a
// CONST; a number, true or false the CONST of that value in the dtype that is due; anything else is an op with its
// operands. Only elementwise ops appear. parse_rule and apply_rule are what others call.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

struct Pattern {
  enum class Kind : std::uint8_t { kAny, kConst, kNumber, kOp };
  Kind kind;
  std::size_t binding = 0;  // kAny, kConst: which of Bindings
  double number = 0;        // kNumber; -0.0 is not 0.0
  Op op = Op::kAdd;         // kOp
  std::vector<Pattern> operands = {};
};

/// What x, y, z, c, d stand for.
using Bindings = std::array<UOp, 5>;

struct Rule {
  std::string text;   // "ADD x 0 -> x", for messages
  std::string kinds;  // of "BISF": the dtypes of the pattern's last operand for which the rule holds
  Pattern pattern;
  Pattern replacement;
};

/// Throws BrokenInvariant for text that is no rule: rules are part of the program.
Rule parse_rule(std::string_view kinds, std::string_view pattern, std::string_view replacement);

/// What a number of a rule is in `dtype`: -1 is all bits set in an unsigned type; -0.0 is kept in a float.
Scalar number_in(DType dtype, double number);

/// True where a rule for `kinds` holds for operands of `dtype`.
bool has_kind(std::string_view kinds, DType dtype);

/// The replacement for `u`, or no node where the rule does not match. `make` makes the nodes of the replacement, so
/// that they are simplified in their turn. Recursion is as deep as the rule's text.
UOp apply_rule(const Rule& rule, UOp u, const std::function<UOp(Op, std::vector<UOp>)>& make);

}  // namespace uop
