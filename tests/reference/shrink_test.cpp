// The shrinker keeps what makes a case fail and drops the rest.
#include "tests/reference/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/traverse.h"
#include "tests/reference/interpret.h"

namespace uop::reference {
namespace {

bool has_op(const RandomCase& c, Op op) {
  const std::vector<UOp> nodes = toposort(c.graph.roots);
  return std::any_of(nodes.begin(), nodes.end(), [op](UOp u) { return u.op() == op; });
}

TEST(Shrink, LeavesTheOpThatFailsAndItsInputs) {
  int shrunk_cases = 0;
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    const RandomCase c = random_case(seed, 20);
    if (!has_op(c, Op::kSin) || toposort(c.graph.roots).size() < 10) continue;
    shrunk_cases++;
    const RandomCase small = shrunk(c, [](const RandomCase& candidate) { return has_op(candidate, Op::kSin); });
    EXPECT_EQ(small.graph.roots.size(), 1u);
    EXPECT_LE(toposort(small.graph.roots).size(), 3u) << to_text(small);
    EXPECT_EQ(small.seed, seed);
    EXPECT_NO_THROW(interpret(small.graph.roots, small.inputs, Numerics::kStrict));
  }
  EXPECT_GT(shrunk_cases, 3);
}

TEST(Shrink, KeepsTheValuesThatMatter) {
  const auto fails = [](const RandomCase& c) {
    for (const Tensor& t : interpret(c.graph.roots, c.inputs, Numerics::kStrict))
      for (const Element& e : t.elements)
        if (t.dtype == DType::kI32 && e.bits == 0xffffffff) return true;
    return false;
  };
  int shrunk_cases = 0;
  for (std::uint64_t seed = 1; seed <= 400 && shrunk_cases < 3; seed++) {
    const RandomCase c = random_case(seed, 20);
    if (!fails(c)) continue;
    shrunk_cases++;
    const RandomCase small = shrunk(c, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_LE(toposort(small.graph.roots).size(), toposort(c.graph.roots).size());
    EXPECT_LE(toposort(small.graph.roots).size(), 2u) << to_text(small);
  }
  EXPECT_GT(shrunk_cases, 0);
}

}  // namespace
}  // namespace uop::reference
