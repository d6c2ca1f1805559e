// Every rewrite rule against the scalar meanings: pattern and replacement give bit-equal results (any NaN for any NaN)
// for every pair of special values (special_values.h) of every dtype that the rule is for, and for random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "core/opt/simplify.h"
#include "tests/special_values.h"

namespace uop {
namespace {

constexpr int kRandomTries = 400;

/// A special value, or any pattern.
Scalar some_value(DType dtype, std::mt19937_64& random) {
  const std::vector<Scalar> special = special_values(dtype);
  if (random() % 2 == 0 || dtype == DType::kBool) return special[random() % special.size()];
  return {dtype, random() >> (64 - 8 * byte_size(dtype))};
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

/// Marks the bindings that occur.
void find_bindings(const Pattern& p, std::array<bool, 5>& bound) {
  if (p.kind == Pattern::Kind::kAny || p.kind == Pattern::Kind::kConst) bound[p.binding] = true;
  for (const Pattern& operand : p.operands) find_bindings(operand, bound);
}

/// Calls `f` with every choice of special values for the first two bindings of the rule, random ones for the others,
/// and then with random values for all.
void for_values(const Rule& rule, DType dtype, std::mt19937_64& random, const std::function<void(const Values&)>& f) {
  std::array<bool, 5> conditions{};
  find_conditions(rule.pattern, false, conditions);
  std::array<bool, 5> bound{};
  find_bindings(rule.pattern, bound);
  std::vector<std::size_t> places;
  for (std::size_t v = 0; v < bound.size(); v++)
    if (bound[v]) places.push_back(v);
  const auto dtype_of = [&](std::size_t v) { return conditions[v] ? DType::kBool : dtype; };
  Values values;
  const auto at_random = [&] {
    for (std::size_t v = 0; v < values.size(); v++) values[v] = some_value(dtype_of(v), random);
  };
  ASSERT_FALSE(places.empty()) << rule.text;
  for (const Scalar first : special_values(dtype_of(places.front())))
    for (const Scalar second : special_values(dtype_of(places.back()))) {
      at_random();
      values[places.front()] = first;
      values[places.back()] = second;
      f(values);
    }
  for (int i = 0; i < kRandomTries; i++) {
    at_random();
    f(values);
  }
}

bool equal(Scalar a, Scalar b) {
  return a == b || (a.dtype == b.dtype && is_nan(a) && is_nan(b));
}

void expect_holds(const Rule& rule, DType dtype, const Values& values) {
  const std::optional<Scalar> before = value_of(rule.pattern, dtype, values);
  ASSERT_TRUE(before) << rule.text << " has an op that is not evaluated";
  const std::optional<Scalar> after =
      value_of(rule.replacement, gives_bool(rule.pattern.op) ? DType::kBool : dtype, values);
  ASSERT_TRUE(after) << rule.text;
  ASSERT_TRUE(equal(*before, *after)) << rule.text << " for " << name(dtype) << ": " << to_string(*before) << " is not "
                                      << to_string(*after) << " with x=" << to_string(values[0])
                                      << " y=" << to_string(values[1]) << " z=" << to_string(values[2])
                                      << " c=" << to_string(values[3]) << " d=" << to_string(values[4]);
}

TEST(Rules, EveryRuleHoldsForEveryDType) {
  std::mt19937_64 random(20260101);
  for (const Rule& rule : simplification_rules()) {
    int checked = 0;
    for (const DTypeRow& d : dtype_rows()) {
      if (!has_kind(rule.kinds, d.dtype) || !accepts(rule.pattern.op, d.dtype)) continue;
      for_values(rule, d.dtype, random, [&](const Values& values) {
        if (!testing::Test::HasFatalFailure()) expect_holds(rule, d.dtype, values);
        checked++;
      });
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(checked, 0) << rule.text << " was never checked";
  }
}

/// What "special" promises, for each dtype.
TEST(Rules, AreCheckedWithEverySpecialValue) {
  for (const DTypeRow& d : dtype_rows()) {
    if (d.dtype == DType::kBool) continue;
    const std::vector<Scalar> values = special_values(d.dtype);
    const auto has = [&](auto is) { return std::any_of(values.begin(), values.end(), is); };
    const auto has_value = [&](double x) { return has([&](Scalar s) { return s == scalar_of(d.dtype, x); }); };
    for (const Scalar s : values) EXPECT_EQ(s.bits >> (8 * byte_size(d.dtype) - 1) >> 1, 0u) << d.name;
    EXPECT_TRUE(has_value(0) && has_value(1)) << d.name;
    if (is_float(d.dtype)) {
      const double least_normal = std::ldexp(1, d.dtype == DType::kF64 ? -1022 : d.dtype == DType::kF16 ? -14 : -126);
      EXPECT_TRUE(has_value(-0.0) && has_value(-1) && has_value(INFINITY) && has_value(-INFINITY)) << d.name;
      EXPECT_TRUE(has(is_nan)) << d.name;
      EXPECT_TRUE(has([&](Scalar s) { return to_double(s) > 0 && to_double(s) < least_normal; })) << d.name;
      EXPECT_TRUE(has([&](Scalar s) { return to_double(s) < 0 && to_double(s) > -least_normal; })) << d.name;
      EXPECT_TRUE(has_value(least_normal) && has_value(-least_normal)) << d.name;
    } else {
      EXPECT_TRUE(has([&](Scalar s) { return s == reduce_identity(Op::kMax, d.dtype); })) << d.name;  // the lowest
      EXPECT_TRUE(has([&](Scalar s) { return s == reduce_identity(Op::kMin, d.dtype); })) << d.name;  // the highest
    }
  }
}

}  // namespace
}  // namespace uop
