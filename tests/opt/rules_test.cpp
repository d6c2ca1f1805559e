// Every rewrite rule against the scalar meanings: pattern and replacement give bit-equal results (any NaN for any NaN)
// for extreme and random values of every dtype that the rule is for.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "core/opt/simplify.h"

namespace uop {
namespace {

constexpr int kRandomTries = 400;

/// Zeros, ones, extremes, denormals, infinities and NaN, or random bits.
Scalar some_value(DType dtype, std::mt19937_64& random) {
  if (dtype == DType::kBool) return {dtype, random() & 1};
  const std::uint64_t mask = byte_size(dtype) == 8 ? ~0ull : (1ull << (8 * byte_size(dtype))) - 1;
  const std::uint64_t top = 1ull << (8 * byte_size(dtype) - 1);
  switch (random() % 8) {
    case 0: return scalar_of(dtype, std::int64_t{0});
    case 1: return scalar_of(dtype, std::int64_t{1});
    case 2: return scalar_of(dtype, std::int64_t{-1});
    case 3: return {dtype, top};                        // INT_MIN, -0.0
    case 4: return {dtype, (random() % 4 + 1) & mask};  // small, or the least denormals
    case 5:
      if (is_float(dtype)) return scalar_of(dtype, random() % 2 ? INFINITY : -INFINITY);
      return {dtype, top - 1};
    case 6:
      if (is_float(dtype)) return scalar_of(dtype, std::nan(""));
      return {dtype, mask};
    default: return {dtype, random() & mask};
  }
}

using Values = std::array<Scalar, 5>;

bool gives_bool(Op op) {
  return row(op).result == OpResult::kBool;
}

/// The value of `p`; `due` is the dtype that a number in its place has.
std::optional<Scalar> value_of(const Pattern& p, DType due, const Values& values) {
  if (p.kind == Pattern::Kind::kNumber) return number_in(due, p.number);
  if (p.kind != Pattern::Kind::kOp) return values[p.binding];
  std::vector<Scalar> operands;
  for (std::size_t i = 0; i < p.operands.size(); i++) {
    const DType operand_due = p.op == Op::kWhere && i == 0 ? DType::kBool : due;
    const std::optional<Scalar> v = value_of(p.operands[i], operand_due, values);
    if (!v) return std::nullopt;
    operands.push_back(*v);
  }
  return evaluate(p.op, gives_bool(p.op) ? DType::kBool : operands.back().dtype, operands);
}

/// Marks the bindings that stand where a bool condition does.
void find_conditions(const Pattern& p, bool is_condition, std::array<bool, 5>& conditions) {
  if (p.kind == Pattern::Kind::kAny || p.kind == Pattern::Kind::kConst) conditions[p.binding] |= is_condition;
  for (std::size_t i = 0; i < p.operands.size(); i++)
    find_conditions(p.operands[i], is_condition || (p.op == Op::kWhere && i == 0), conditions);
}

bool equal(Scalar a, Scalar b) {
  return a == b || (a.dtype == b.dtype && is_nan(a) && is_nan(b));
}

TEST(Rules, EveryRuleHoldsForEveryDType) {
  std::mt19937_64 random(20260101);
  for (const Rule& rule : simplification_rules()) {
    std::array<bool, 5> conditions{};
    find_conditions(rule.pattern, false, conditions);
    int checked = 0;
    for (const DTypeRow& d : dtype_rows()) {
      if (!has_kind(rule.kinds, d.dtype) || !accepts(rule.pattern.op, d.dtype)) continue;
      for (int i = 0; i < kRandomTries; i++) {
        Values values;
        for (std::size_t v = 0; v < values.size(); v++)
          values[v] = some_value(conditions[v] ? DType::kBool : d.dtype, random);
        const std::optional<Scalar> before = value_of(rule.pattern, d.dtype, values);
        ASSERT_TRUE(before) << rule.text << " has an op that is not evaluated";
        const DType due = gives_bool(rule.pattern.op) ? DType::kBool : d.dtype;
        const std::optional<Scalar> after = value_of(rule.replacement, due, values);
        ASSERT_TRUE(after) << rule.text;
        ASSERT_TRUE(equal(*before, *after))
            << rule.text << " for " << name(d.dtype) << ": " << to_string(*before) << " is not " << to_string(*after)
            << " with x=" << to_string(values[0]) << " y=" << to_string(values[1]) << " z=" << to_string(values[2])
            << " c=" << to_string(values[3]) << " d=" << to_string(values[4]);
        checked++;
      }
    }
    EXPECT_GT(checked, 0) << rule.text << " was never checked";
  }
}

}  // namespace
}  // namespace uop
