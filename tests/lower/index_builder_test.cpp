// Index arithmetic: rows of (what is built, what it must read as), and random shapes against plain arithmetic.
#include "core/lower/index_builder.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "core/ir/build.h"
#include "core/ir/traverse.h"
#include "core/lower/movement.h"

namespace uop {
namespace {

UOp range(Graph& g, std::int64_t id, std::int64_t n) {
  return g.make(Op::kRange, {}, {.dtype = DType::kI64, .value = id, .ints = {n}});
}

std::int64_t value_of(UOp root, const std::vector<std::int64_t>& counters) {
  std::unordered_map<UOp, std::int64_t, UOpHash> v;
  for (const UOp u : toposort({&root, 1})) {
    switch (u.op()) {
      case Op::kConst: v[u] = u.arg().value; break;
      case Op::kRange: v[u] = counters.at(static_cast<std::size_t>(u.arg().value)); break;
      case Op::kAdd: v[u] = v[u.src(0)] + v[u.src(1)]; break;
      case Op::kMul: v[u] = v[u.src(0)] * v[u.src(1)]; break;
      case Op::kDiv: v[u] = v[u.src(0)] / v[u.src(1)]; break;
      case Op::kMod: v[u] = v[u.src(0)] % v[u.src(1)]; break;
      case Op::kCmpLe: v[u] = v[u.src(0)] <= v[u.src(1)]; break;
      case Op::kCmpLt: v[u] = v[u.src(0)] < v[u.src(1)]; break;
      case Op::kAnd: v[u] = v[u.src(0)] & v[u.src(1)]; break;
      default: ADD_FAILURE() << "not index arithmetic: " << name(u.op());
    }
  }
  return v[root];
}

bool has_division(UOp root) {
  for (const UOp u : toposort({&root, 1}))
    if (u.op() == Op::kDiv || u.op() == Op::kMod) return true;
  return false;
}

/// Windows are rows of one element more than what they repeat: (i + 10 k) / 9 is k where i + k < 9.
TEST(IndexBuilder, FactorsBeyondTheDivisorAreTakenOut) {
  Graph g;
  IndexBuilder b(g);
  const UOp i = range(g, 0, 7);
  const UOp k = range(g, 1, 3);
  const UOp window = b.add(i, b.mul(k, 10));
  EXPECT_EQ(b.mod(window, 9), b.add(i, k));
  EXPECT_EQ(b.div(window, 9), k);
  EXPECT_EQ(b.add(b.mul(b.div(window, 9), 9), b.mod(window, 9)), window);
  const UOp wraps = b.add(range(g, 2, 8), b.mul(k, 10));  // up to 7 + 2
  EXPECT_TRUE(has_division(b.mod(wraps, 9)));
  const UOp back = b.add(b.add(b.number(40), b.mul(i, -1)), b.mul(k, 10));
  for (std::int64_t x = 0; x < 7; x++)
    for (std::int64_t y = 0; y < 3; y++) {
      EXPECT_EQ(value_of(b.mod(back, 9), {x, y}), (40 - x + 10 * y) % 9);
      EXPECT_EQ(value_of(b.div(back, 9), {x, y}), (40 - x + 10 * y) / 9);
    }
}

TEST(IndexBuilder, BoundsDecideQuotients) {
  Graph g;
  IndexBuilder b(g);
  const UOp i = range(g, 0, 4);
  const UOp j = range(g, 1, 8);
  const UOp flat = b.add(b.mul(i, 8), j);
  EXPECT_EQ(b.div(flat, 8), i);
  EXPECT_EQ(b.mod(flat, 8), j);
  EXPECT_EQ(b.div(flat, 32), b.number(0));
  EXPECT_EQ(b.mod(flat, 32), flat);
  EXPECT_EQ(b.add(b.mul(b.div(flat, 3), 3), b.mod(flat, 3)), flat) << "x/3*3 + x%3";
  EXPECT_EQ(b.div(b.div(flat, 2), 4), i);
  EXPECT_TRUE(b.is_always(b.below(j, 8)));
  EXPECT_TRUE(b.is_never(b.at_least(j, 8)));
  EXPECT_FALSE(b.is_always(b.below(j, 7)));
}

/// A random reshape, permute, shrink, flip or pad of `x`.
UOp random_movement(UOp x, std::mt19937_64& random) {
  const Shape& shape = x.shape();
  switch (random() % 5) {
    case 0: {
      Shape to{x.numel()};
      for (int tries = 0; tries < 6; tries++) {
        const std::int64_t factor = 2 + static_cast<std::int64_t>(random() % 3);
        if (to.back() % factor == 0) to.insert(to.end() - 1, factor), to.back() /= factor;
      }
      return reshape(x, to);
    }
    case 1: {
      std::vector<std::int64_t> order(shape.size());
      for (std::size_t i = 0; i < order.size(); i++) order[i] = static_cast<std::int64_t>(i);
      std::shuffle(order.begin(), order.end(), random);
      return permute(x, order);
    }
    case 2: {
      std::vector<std::int64_t> ints;
      for (const std::int64_t d : shape) {
        ints.push_back(d > 2 ? 1 : 0);
        ints.push_back(d);
      }
      return shrink(x, ints);
    }
    case 3: {
      std::vector<std::int64_t> flags;
      for (std::size_t i = 0; i < shape.size(); i++) flags.push_back(static_cast<std::int64_t>(random() % 2));
      return flip(x, flags);
    }
    default: {
      std::vector<std::int64_t> ints;
      for (std::size_t i = 0; i < 2 * shape.size(); i++) ints.push_back(static_cast<std::int64_t>(random() % 2));
      return x.numel() < 2000 ? pad(x, ints) : x;
    }
  }
}

/// Where element `at` of `u` comes from in the source of all movements, or -1 for padding: plain arithmetic.
std::int64_t source_of(UOp u, std::int64_t at) {
  for (; u.op() != Op::kBuffer; u = u.src(0)) {
    if (u.op() == Op::kReshape) continue;
    const Shape& to = u.shape();
    const Shape& from = u.src(0).shape();
    std::vector<std::int64_t> index(to.size());
    for (std::size_t i = to.size(); i-- > 0; at /= to[i]) index[i] = at % to[i];
    std::vector<std::int64_t> source = index;
    const auto& ints = u.arg().ints;
    for (std::size_t i = 0; i < to.size(); i++) {
      if (u.op() == Op::kPermute) source[static_cast<std::size_t>(ints[i])] = index[i];
      if (u.op() == Op::kShrink) source[i] = index[i] + ints[2 * i];
      if (u.op() == Op::kFlip && ints[i] != 0) source[i] = from[i] - 1 - index[i];
      if (u.op() == Op::kPad) source[i] = index[i] - ints[2 * i];
    }
    at = 0;
    for (std::size_t i = 0; i < from.size(); i++) {
      if (source[i] < 0 || source[i] >= from[i]) return -1;
      at = at * from[i] + source[i];
    }
  }
  return at;
}

TEST(IndexBuilder, RandomMovementsMatchPlainArithmetic) {
  std::mt19937_64 random(20260102);
  for (int round = 0; round < 300; round++) {
    Graph g;
    IndexBuilder b(g);
    UOp u = reshape(buffer(g, 0, DType::kF32, 96), {4, 3, 8});
    for (int i = 0; i < 5; i++) u = random_movement(u, random);
    std::vector<UOp> index;
    for (const std::int64_t d : u.shape())
      index.push_back(d == 1 ? b.number(0) : range(g, static_cast<std::int64_t>(index.size()), d));
    UOp inside = b.always();
    std::vector<UOp> at = index;
    for (UOp v = u; v.op() != Op::kBuffer; v = v.src(0)) {
      Moved moved = move_index(b, v, at);
      at = std::move(moved.index);
      inside = b.both(inside, moved.inside);
    }
    for (std::int64_t e = 0; e < u.numel(); e++) {
      std::vector<std::int64_t> counters(u.shape().size());
      std::int64_t rest = e;
      for (std::size_t i = counters.size(); i-- > 0; rest /= u.shape()[i]) counters[i] = rest % u.shape()[i];
      const std::int64_t expected = source_of(u, e);
      ASSERT_EQ(value_of(inside, counters) != 0, expected >= 0) << "round " << round << " element " << e;
      if (expected < 0) continue;
      ASSERT_EQ(value_of(at[0], counters), expected) << "round " << round << " element " << e;
    }
  }
}

/// An index as deep as the movement ops of the largest kernel can nest it (repeated, shrunk and repeated again, which
/// is four ops a level) is taken apart within the stack of any thread.
TEST(IndexBuilder, DeepNestsAreTakenApart) {
  constexpr std::int64_t kLevels = 2048;
  Graph g;
  IndexBuilder b(g);
  const std::int64_t counter = 2 * kLevels + 5;
  UOp index = range(g, 0, counter + 1);
  std::int64_t expected = counter;
  for (std::int64_t n = 2 * kLevels; n >= 4; n -= 2) {
    index = b.mod(index, n);
    expected %= n;
  }
  EXPECT_EQ(value_of(index, {counter}), expected);
  EXPECT_EQ(value_of(b.div(index, 2), {counter}), expected / 2);
  EXPECT_EQ(value_of(b.mod(index, 2), {counter}), expected % 2);
}

TEST(IndexBuilder, SplittingAndMergingBackLeavesNoDivision) {
  Graph g;
  IndexBuilder b(g);
  const UOp x = reshape(buffer(g, 0, DType::kF32, 96), {8, 12});
  const UOp u = reshape(permute(permute(reshape(x, {2, 4, 3, 4}), {0, 2, 1, 3}), {0, 2, 1, 3}), {8, 12});
  std::vector<UOp> at{range(g, 0, 8), range(g, 1, 12)};
  for (UOp v = u; v.op() != Op::kBuffer; v = v.src(0)) at = move_index(b, v, at).index;
  EXPECT_FALSE(has_division(at[0]));
}

}  // namespace
}  // namespace uop
