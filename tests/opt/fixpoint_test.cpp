// That simplify does what the rules say: it applies each of them, and comes to an end where none applies any more.
#include <gtest/gtest.h>

#include <random>

#include "core/ir/build.h"
#include "core/ir/text.h"
#include "core/opt/simplify.h"
#include "tests/special_values.h"

namespace uop {
namespace {

UOp number(Graph& g) {
  return constant(g, DType::kI64, std::int64_t{0});
}

UOp loaded(Graph& g, std::int64_t slot, DType dtype) {
  const UOp param = g.make(Op::kParam, {}, {.dtype = dtype, .value = slot, .ints = {4}});
  return g.make(Op::kLoad, {param, number(g)});
}

/// What simplify makes of a value.
UOp simple(UOp value) {
  Graph& g = value.graph();
  const UOp out = g.make(Op::kParam, {}, {.dtype = value.dtype(), .value = 99, .ints = {4}});
  const UOp always = constant(g, DType::kBool, std::int64_t{1});
  const UOp sink = simplify(g.make(Op::kSink, {g.make(Op::kStore, {out, number(g), value, always})}));
  return sink.src(0).src(2);
}

std::string text(UOp u) {
  return to_text({&u, 1});
}

/// The nodes that a pattern describes, of values (x, y, z) and constants (c, d) that no rule treats in a special way;
/// an error where an op does not take the dtype.
StatusOr<UOp> instance(const Pattern& p, DType due, Graph& g) {
  switch (p.kind) {
    case Pattern::Kind::kAny:
      return loaded(g, 10 * static_cast<std::int64_t>(due) + static_cast<std::int64_t>(p.binding), due);
    case Pattern::Kind::kConst: return constant(g, due, static_cast<std::int64_t>(3 + p.binding));
    case Pattern::Kind::kNumber: return constant(g, number_in(due, p.number));
    case Pattern::Kind::kOp: break;
  }
  std::vector<UOp> operands;
  for (std::size_t i = 0; i < p.operands.size(); i++) {
    StatusOr<UOp> operand = instance(p.operands[i], p.op == Op::kWhere && i == 0 ? DType::kBool : due, g);
    if (!operand.ok()) return operand;
    operands.push_back(*operand);
  }
  return g.try_make(p.op, std::move(operands));
}

TEST(Fixpoint, EveryRuleIsApplied) {
  for (const Rule& rule : simplification_rules()) {
    int checked = 0;
    for (const DTypeRow& d : dtype_rows()) {
      if (!has_kind(rule.kinds, d.dtype) || !accepts(rule.pattern.op, d.dtype)) continue;
      Graph g;
      const StatusOr<UOp> before = instance(rule.pattern, d.dtype, g);
      ASSERT_TRUE(before.ok()) << rule.text << " for " << d.name << ": " << before.status();
      const StatusOr<UOp> after = instance(rule.replacement, before->dtype(), g);
      ASSERT_TRUE(after.ok()) << rule.text << " for " << d.name << ": " << after.status();
      EXPECT_NE(simple(*before), *before) << rule.text << " for " << d.name << " is never applied";
      EXPECT_EQ(simple(*before), simple(*after)) << rule.text << " for " << d.name << " gives\n"
                                                 << text(simple(*before)) << "not\n"
                                                 << text(simple(*after));
      checked++;
    }
    EXPECT_GT(checked, 0) << rule.text << " was never checked";
  }
}

/// A random expression: ops of all kinds over few loads and constants, so that rules find what they look for.
class Growth {
 public:
  Growth(Graph& graph, std::uint64_t seed) : g_(graph), random_(seed) {}

  UOp value(DType dtype, int depth) {
    if (depth == 0 || below(8) == 0) return leaf(dtype);
    if (dtype == DType::kBool && below(2) == 0) return compared(depth);
    std::vector<Op> ops;
    for (const OpRow& r : op_rows())
      if (is_alu(r.op) && r.result == OpResult::kSame && accepts(r.op, dtype)) ops.push_back(r.op);
    const Op op = ops[below(ops.size())];
    std::vector<UOp> src;
    for (int i = 0; i < row(op).arity; i++)
      src.push_back(value(op == Op::kWhere && i == 0 ? DType::kBool : dtype, depth - 1));
    return g_.make(op, std::move(src));
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  UOp compared(int depth) {
    constexpr Op kOps[] = {Op::kCmpLt, Op::kCmpLe, Op::kCmpEq, Op::kCmpNe};
    const DType dtype = dtype_rows()[below(dtype_rows().size())].dtype;
    return g_.make(kOps[below(4)], {value(dtype, depth - 1), value(dtype, depth - 1)});
  }

  UOp leaf(DType dtype) {
    if (below(2) == 0)
      return loaded(g_, static_cast<std::int64_t>(10 * static_cast<std::size_t>(dtype) + below(2)), dtype);
    if (below(2) == 0)
      return constant(g_, number_in(dtype, static_cast<double>(below(3)) - (is_signed(dtype) ? 1 : 0)));
    const std::vector<Scalar> special = special_values(dtype);
    return constant(g_, special[below(special.size())]);
  }

  Graph& g_;
  std::mt19937_64 random_;
};

/// Within kMaxSimplifySteps a node, or simplify throws.
TEST(Fixpoint, IsReachedOnRandomExpressions) {
  for (std::uint64_t seed = 0; seed < 3000; seed++) {
    Graph g;
    const DType dtype = dtype_rows()[seed % dtype_rows().size()].dtype;
    const UOp before = Growth(g, seed).value(dtype, 2 + static_cast<int>(seed % 6));
    const UOp once = simple(before);
    ASSERT_EQ(once.dtype(), before.dtype());
    ASSERT_EQ(simple(once), once) << "seed " << seed << ":\n" << text(once) << "is made into\n" << text(simple(once));
  }
}

}  // namespace
}  // namespace uop
