// Interning: equal nodes are one node, ids are in order of creation, and no choice of constants makes it slow.
#include <gtest/gtest.h>

#include <string>

#include "core/ir/build.h"
#include "core/ir/text.h"

namespace uop {
namespace {

TEST(InterningTest, EqualNodesAreOneNode) {
  Graph g;
  const UOp x = buffer(g, 0, DType::kF32, 4);
  const UOp sum = g.make(Op::kAdd, {x, x});
  EXPECT_EQ(g.make(Op::kAdd, {x, x}), sum);
  EXPECT_NE(g.make(Op::kMul, {x, x}), sum);
  EXPECT_NE(buffer(g, 1, DType::kF32, 4), x);
  EXPECT_NE(constant(g, Scalar{DType::kI64, 1}), constant(g, Scalar{DType::kU64, 1}));
  EXPECT_EQ(g.size(), 6u);
}

/// Every graph has a key of its own; nothing else may depend on it.
TEST(InterningTest, IdsAreInOrderOfCreation) {
  for (int graph = 0; graph < 20; graph++) {
    Graph g;
    for (std::uint32_t i = 0; i < 500; i++) ASSERT_EQ(constant(g, Scalar{DType::kU64, i * i}).id(), i);
    for (std::uint32_t i = 0; i < 500; i++) ASSERT_EQ(constant(g, Scalar{DType::kU64, i * i}).id(), i);
  }
}

// SplitMix64's finalizer, and what gives its argument back: multiplication by the inverses, and the shifts undone.
std::uint64_t finalized(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
std::uint64_t undone(std::uint64_t x) {
  x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3u;
  x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089u;
  return x ^ (x >> 30) ^ (x >> 60);
}

/// Constants which a public hash (SplitMix64's mix over the fields of a node) puts into one bucket of the table that
/// libstdc++ has from the 351,061st on: all hashes are multiples of its size. With such a hash each of the last 49,000
/// would be compared with all before it.
TEST(InterningTest, ConstantsChosenToCollideDoNot) {
  constexpr std::uint64_t kCount = 400'000, kAdded = 0x9e3779b97f4a7c15u;
  constexpr std::uint64_t kBuckets = 712697;  // libstdc++'s table for this many entries
  const std::uint64_t before_value = finalized(
      finalized(static_cast<std::uint64_t>(Op::kConst) + kAdded + static_cast<std::uint64_t>(DType::kU64)) + kAdded);
  Graph g;
  for (std::uint64_t i = 0; i < kCount; i++) {
    const std::uint64_t bits = undone(i * kBuckets) - before_value - kAdded;
    ASSERT_EQ(finalized(before_value + kAdded + bits) % kBuckets, 0u);
    ASSERT_EQ(constant(g, Scalar{DType::kU64, bits}).id(), i);
  }
}

}  // namespace
}  // namespace uop
