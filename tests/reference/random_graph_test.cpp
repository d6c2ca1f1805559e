// The generator makes well-formed graphs of every op and dtype, the same ones for the same seed, that the reference
// can interpret.
#include "tests/reference/random_graph.h"

#include <gtest/gtest.h>

#include <set>

#include "core/ir/traverse.h"
#include "tests/reference/interpret.h"

namespace uop::reference {
namespace {

constexpr std::uint64_t kSeeds = 400;
constexpr int kSteps = 16;

TEST(RandomGraph, CoversOpsAndDTypesAndIsMostlyChecked) {
  std::set<Op> ops;
  std::set<DType> dtypes;
  std::size_t elements = 0;
  std::map<Numerics, std::size_t> open;
  std::size_t empty_roots = 0;
  std::size_t scalar_roots = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    const RandomCase c = random_case(seed, kSteps);
    for (const UOp u : toposort(c.graph.roots)) {
      ops.insert(u.op());
      dtypes.insert(u.dtype());
      ASSERT_LE(u.numel(), 20'000) << to_text(c);
    }
    for (const Numerics numerics : {Numerics::kStrict, Numerics::kDefault})
      for (const Tensor& t : interpret(c.graph.roots, c.inputs, numerics)) {
        for (const Element& e : t.elements) open[numerics] += e.open ? 1 : 0;
        if (numerics == Numerics::kStrict) elements += t.elements.size();
        empty_roots += t.elements.empty() ? 1 : 0;
        scalar_roots += t.shape.empty() ? 1 : 0;
      }
  }
  for (const OpRow& r : op_rows())
    if (r.number != 0 && r.op != Op::kGradient) {
      EXPECT_TRUE(ops.contains(r.op)) << r.name;
    }
  EXPECT_EQ(dtypes.size(), dtype_rows().size());
  EXPECT_GT(empty_roots, 0u);
  EXPECT_GT(scalar_roots, 0u);
  EXPECT_LT(open[Numerics::kStrict], elements / 20) << "of " << elements;
  EXPECT_LT(open[Numerics::kDefault], elements / 10) << "of " << elements;
}

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(to_text(random_case(7, kSteps)), to_text(random_case(7, kSteps)));
  EXPECT_NE(to_text(random_case(7, kSteps)), to_text(random_case(8, kSteps)));
}

}  // namespace
}  // namespace uop::reference
