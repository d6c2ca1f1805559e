// The meaning of the elementwise ops on scalars: rows of operands and results, and the halves against all their values.
#include "core/ir/scalar.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/special_values.h"

namespace uop {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

Scalar run(Op op, DType result, std::vector<Scalar> operands) {
  return evaluate(op, result, operands).value();
}

std::vector<Scalar> first(int count, std::vector<Scalar> operands) {
  operands.resize(static_cast<std::size_t>(count));
  return operands;
}

struct IntegerRow {
  Op op;
  DType dtype;
  std::int64_t a, b, expected;  // u64 by its bits
};

TEST(Scalar, IntegersWrapAndNeverTrap) {
  const IntegerRow rows[] = {
      {Op::kNeg, DType::kI8, -128, 0, -128},
      {Op::kNeg, DType::kU8, 1, 0, 255},
      {Op::kNot, DType::kI16, 5, 0, -6},
      {Op::kNot, DType::kU16, 0, 0, 65535},
      {Op::kAbs, DType::kI32, -7, 0, 7},
      {Op::kAbs, DType::kI64, kMin64, 0, kMin64},
      {Op::kAbs, DType::kU8, 255, 0, 255},
      {Op::kAdd, DType::kI64, kMax64, 1, kMin64},
      {Op::kAdd, DType::kU32, 0xffffffff, 2, 1},
      {Op::kSub, DType::kI8, -128, 1, 127},
      {Op::kMul, DType::kI16, -32768, -1, -32768},
      {Op::kMul, DType::kU16, 65535, 65535, 1},
      {Op::kMul, DType::kI64, kMin64, 3, kMin64},
      {Op::kDiv, DType::kI32, -7, 2, -3},
      {Op::kDiv, DType::kI32, 7, 0, 0},
      {Op::kDiv, DType::kI8, -128, -1, -128},
      {Op::kDiv, DType::kI64, kMin64, -1, kMin64},
      {Op::kDiv, DType::kU64, -1, 2, kMax64},
      {Op::kDiv, DType::kU8, 9, 0, 0},
      {Op::kMod, DType::kI32, -7, 2, -1},
      {Op::kMod, DType::kI64, kMin64, -1, 0},
      {Op::kMod, DType::kI16, 7, 0, 0},
      {Op::kFloorDiv, DType::kI32, -7, 2, -4},
      {Op::kFloorDiv, DType::kI32, 7, -2, -4},
      {Op::kFloorDiv, DType::kI32, -8, 2, -4},
      {Op::kFloorDiv, DType::kI64, kMin64, -1, kMin64},
      {Op::kFloorDiv, DType::kI8, -5, 0, 0},
      {Op::kFloorDiv, DType::kU32, 7, 2, 3},
      {Op::kFloorMod, DType::kI32, -7, 2, 1},
      {Op::kFloorMod, DType::kI32, 7, -2, -1},
      {Op::kFloorMod, DType::kI32, -7, 0, 0},
      {Op::kFloorMod, DType::kI64, kMin64, kMax64, kMax64 - 1},
      {Op::kMax, DType::kI8, -1, 1, 1},
      {Op::kMax, DType::kU64, -1, 1, -1},
      {Op::kMin, DType::kU64, -1, 1, 1},
      {Op::kAnd, DType::kI8, -1, 12, 12},
      {Op::kOr, DType::kU16, 8, 3, 11},
      {Op::kXor, DType::kI64, -1, 1, -2},
      {Op::kShl, DType::kI32, 1, 31, std::numeric_limits<std::int32_t>::min()},
      {Op::kShl, DType::kI32, 1, 32, 0},
      {Op::kShl, DType::kI8, 1, -1, 0},
      {Op::kShl, DType::kU8, 255, 4, 240},
      {Op::kShr, DType::kI32, -8, 1, -4},
      {Op::kShr, DType::kI32, -8, 99, -1},
      {Op::kShr, DType::kI64, -8, -1, -1},
      {Op::kShr, DType::kI64, 8, -1, 0},
      {Op::kShr, DType::kU64, -1, 63, 1},
      {Op::kShr, DType::kU64, -1, 64, 0},
  };
  for (const IntegerRow& r : rows) {
    const auto operands = first(row(r.op).arity, {scalar_of(r.dtype, r.a), scalar_of(r.dtype, r.b)});
    EXPECT_EQ(run(r.op, r.dtype, operands), scalar_of(r.dtype, r.expected))
        << name(r.op) << ' ' << name(r.dtype) << ' ' << r.a << ' ' << r.b;
  }
}

struct FloatRow {
  Op op;
  DType dtype;
  double a, b, expected;
};

TEST(Scalar, Floats) {
  const FloatRow rows[] = {
      {Op::kNeg, DType::kF32, 0.0, 0, -0.0},
      {Op::kNeg, DType::kF16, kNan, 0, -kNan},
      {Op::kAbs, DType::kF64, -0.0, 0, 0.0},
      {Op::kAbs, DType::kBF16, -kNan, 0, kNan},
      {Op::kReciprocal, DType::kF32, -0.0, 0, -kInf},
      {Op::kReciprocal, DType::kF16, 3, 0, 0x1.554p-2},
      {Op::kReciprocal, DType::kF16, 0x1p-16, 0, kInf},
      {Op::kSqrt, DType::kF64, 2, 0, 0x1.6a09e667f3bcdp+0},
      {Op::kSqrt, DType::kF32, -0.0, 0, -0.0},
      {Op::kTrunc, DType::kF32, -0.9, 0, -0.0},
      {Op::kFloor, DType::kF64, -0.1, 0, -1},
      {Op::kFloor, DType::kF32, -0.0, 0, -0.0},
      {Op::kCeil, DType::kF16, -0.5, 0, -0.0},
      {Op::kCeil, DType::kF32, 1e30, 0, 1e30},
      {Op::kRound, DType::kF32, 2.5, 0, 2},
      {Op::kRound, DType::kF64, 3.5, 0, 4},
      {Op::kRound, DType::kF64, -0.5, 0, -0.0},
      {Op::kAdd, DType::kF32, -0.0, -0.0, -0.0},
      {Op::kAdd, DType::kF32, -0.0, 0.0, 0.0},
      {Op::kAdd, DType::kF16, 2048, 1, 2048},  // a tie, to even
      {Op::kAdd, DType::kF16, 2050, 1, 2052},
      {Op::kAdd, DType::kF16, 65504, 16, kInf},
      {Op::kAdd, DType::kBF16, 256, 1, 256},
      {Op::kAdd, DType::kF32, 0x1p24, 1, 0x1p24},
      {Op::kSub, DType::kF64, 1, 0x1p-60, 1},
      {Op::kMul, DType::kF32, 0x1p-149, 0.5, 0},
      {Op::kMul, DType::kF32, 0x1p-149, 0.75, 0x1p-149},
      {Op::kMul, DType::kF16, 0x1p-14, 0.5, 0x1p-15},  // a denormal
      {Op::kMul, DType::kF32, -3, 0.0, -0.0},
      {Op::kDiv, DType::kF32, 1, 0.0, kInf},
      {Op::kDiv, DType::kF64, 1, 3, 0x1.5555555555555p-2},
      {Op::kMax, DType::kF32, kNan, 1, kNan},
      {Op::kMax, DType::kF32, 1, kNan, kNan},
      {Op::kMax, DType::kF64, 0.0, -0.0, -0.0},
      {Op::kMax, DType::kF16, -0.0, 0.0, 0.0},
      {Op::kMin, DType::kF32, kNan, 1, kNan},
      {Op::kMin, DType::kBF16, 1, kNan, kNan},
      {Op::kMin, DType::kF32, 2, -kInf, -kInf},
  };
  for (const FloatRow& r : rows) {
    const auto operands = first(row(r.op).arity, {scalar_of(r.dtype, r.a), scalar_of(r.dtype, r.b)});
    EXPECT_EQ(run(r.op, r.dtype, operands), scalar_of(r.dtype, r.expected))
        << name(r.op) << ' ' << name(r.dtype) << ' ' << r.a << ' ' << r.b;
  }
  EXPECT_TRUE(is_nan(run(Op::kSqrt, DType::kF32, {scalar_of(DType::kF32, -1.0)})));
  EXPECT_TRUE(is_nan(run(Op::kMul, DType::kF32, {scalar_of(DType::kF32, kInf), scalar_of(DType::kF32, 0.0)})));
}

TEST(Scalar, ComparisonsFollowIeee) {
  struct Row {
    double a, b;
    bool less, less_or_equal, equal, unequal;
  };
  const Row rows[] = {
      {1, 2, true, true, false, true},        {2, 2, false, true, true, false},
      {-0.0, 0.0, false, true, true, false},  {kNan, 1, false, false, false, true},
      {1, kNan, false, false, false, true},   {kNan, kNan, false, false, false, true},
      {-kInf, kInf, true, true, false, true},
  };
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const Row& r : rows) {
      const std::vector<Scalar> operands = {scalar_of(dtype, r.a), scalar_of(dtype, r.b)};
      const auto holds = [&](Op op) { return run(op, DType::kBool, operands) == Scalar{DType::kBool, 1}; };
      EXPECT_EQ(holds(Op::kCmpLt), r.less);
      EXPECT_EQ(holds(Op::kCmpLe), r.less_or_equal);
      EXPECT_EQ(holds(Op::kCmpEq), r.equal);
      EXPECT_EQ(holds(Op::kCmpNe), r.unequal);
    }
  }
}

TEST(Scalar, BoolsWhereAndBitcast) {
  const Scalar no{DType::kBool, 0}, yes{DType::kBool, 1};
  EXPECT_EQ(run(Op::kNot, DType::kBool, {no}), yes);
  EXPECT_EQ(run(Op::kAnd, DType::kBool, {yes, no}), no);
  EXPECT_EQ(run(Op::kOr, DType::kBool, {yes, no}), yes);
  EXPECT_EQ(run(Op::kXor, DType::kBool, {yes, yes}), no);
  EXPECT_EQ(run(Op::kMax, DType::kBool, {no, yes}), yes);
  EXPECT_EQ(run(Op::kMin, DType::kBool, {no, yes}), no);
  EXPECT_EQ(run(Op::kCmpLt, DType::kBool, {no, yes}), yes);
  const Scalar quiet{DType::kF16, 0x7c01}, one = scalar_of(DType::kF16, 1.0);
  EXPECT_EQ(run(Op::kWhere, DType::kF16, {yes, quiet, one}), quiet);  // bits as they are
  EXPECT_EQ(run(Op::kWhere, DType::kF16, {no, quiet, one}), one);
  EXPECT_EQ(run(Op::kBitcast, DType::kU32, {scalar_of(DType::kF32, 1.0)}), (Scalar{DType::kU32, 0x3f800000}));
  EXPECT_EQ(run(Op::kBitcast, DType::kI16, {scalar_of(DType::kBF16, -1.0)}), (Scalar{DType::kI16, 0xbf80}));
  EXPECT_EQ(run(Op::kBitcast, DType::kBool, {scalar_of(DType::kU8, std::int64_t{6})}), yes);
}

TEST(Scalar, CastsSaturateOnceRounded) {
  struct Row {
    double value;
    DType from, to;
    Scalar expected;
  };
  const auto integer = [](DType dtype, std::int64_t value) { return scalar_of(dtype, value); };
  const Row rows[] = {
      {-1.9, DType::kF32, DType::kI32, integer(DType::kI32, -1)},
      {kNan, DType::kF32, DType::kI64, integer(DType::kI64, 0)},
      {kInf, DType::kF64, DType::kI64, integer(DType::kI64, kMax64)},
      {-kInf, DType::kF16, DType::kI64, integer(DType::kI64, kMin64)},
      {0x1p63, DType::kF64, DType::kI64, integer(DType::kI64, kMax64)},
      {0x1p64, DType::kF32, DType::kU64, integer(DType::kU64, -1)},
      {0x1.fffffep63, DType::kF32, DType::kU64, Scalar{DType::kU64, 0xffffff0000000000}},
      {127.9, DType::kF64, DType::kI8, integer(DType::kI8, 127)},
      {-128.9, DType::kF64, DType::kI8, integer(DType::kI8, -128)},
      {300, DType::kBF16, DType::kU8, integer(DType::kU8, 255)},
      {-0.9, DType::kF32, DType::kU8, integer(DType::kU8, 0)},
      {-5, DType::kF32, DType::kU64, integer(DType::kU64, 0)},
      {2147483648.0, DType::kF32, DType::kI32, integer(DType::kI32, 2147483647)},
      {kNan, DType::kF32, DType::kBool, Scalar{DType::kBool, 1}},
      {-0.0, DType::kF32, DType::kBool, Scalar{DType::kBool, 0}},
      {-1, DType::kI8, DType::kU64, integer(DType::kU64, -1)},
      {-1, DType::kI64, DType::kU16, integer(DType::kU16, 65535)},
      {300, DType::kI32, DType::kI8, integer(DType::kI8, 44)},
      {1, DType::kBool, DType::kF16, scalar_of(DType::kF16, 1.0)},
      {65520, DType::kF32, DType::kF16, scalar_of(DType::kF16, kInf)},
      {65519, DType::kF32, DType::kF16, scalar_of(DType::kF16, 65504.0)},
      {0x1.002p0 + 0x1p-40, DType::kF64, DType::kF16, scalar_of(DType::kF16, 0x1.004p0)},  // not a tie, as via f32
      {0x1.01p0 + 0x1p-40, DType::kF64, DType::kBF16, scalar_of(DType::kBF16, 0x1.02p0)},
      {0x1p-134 + 0x1p-160, DType::kF64, DType::kBF16, scalar_of(DType::kBF16, 0x1p-133)},
  };
  for (const Row& r : rows)
    EXPECT_EQ(run(Op::kCast, r.to, {scalar_of(r.from, r.value)}), r.expected)
        << r.value << ' ' << name(r.from) << " to " << name(r.to) << ": "
        << to_string(run(Op::kCast, r.to, {scalar_of(r.from, r.value)}));
}

/// Every half, its successor, and the points at and around their middle: nearest, ties to even.
TEST(Scalar, HalvesRoundToNearestEven) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const std::uint64_t infinity = scalar_of(dtype, kInf).bits;
    for (std::uint64_t bits = 0; bits < infinity; ++bits) {
      const double value = to_double({dtype, bits});
      // Beyond the last half comes what would be the next one, and rounds to infinity.
      const double next = bits + 1 < infinity ? to_double({dtype, bits + 1}) : 2 * value - to_double({dtype, bits - 1});
      const double middle = value + (next - value) / 2;
      const std::uint64_t even = bits % 2 == 0 ? bits : bits + 1;
      ASSERT_EQ(scalar_of(dtype, value).bits, bits);
      ASSERT_EQ(scalar_of(dtype, middle).bits, even);
      ASSERT_EQ(scalar_of(dtype, std::nextafter(middle, 0)).bits, bits);
      ASSERT_EQ(scalar_of(dtype, std::nextafter(middle, kInf)).bits, bits + 1);
      ASSERT_EQ(scalar_of(dtype, -middle).bits, even | 0x8000);
      if (middle < 0x1p52) continue;
      const auto whole = static_cast<std::uint64_t>(middle);
      if (middle >= 0x1p64) continue;
      ASSERT_EQ(scalar_of(dtype, whole).bits, even);
      ASSERT_EQ(scalar_of(dtype, whole - 1).bits, bits);  // 1 is less than a double at this size can tell
      ASSERT_EQ(scalar_of(dtype, whole + 1).bits, bits + 1);
      if (middle >= 0x1p63) continue;
      ASSERT_EQ(scalar_of(dtype, -static_cast<std::int64_t>(whole + 1)).bits, (bits + 1) | 0x8000);
    }
  }
}

TEST(Scalar, IntegersRoundOnceToFloats) {
  EXPECT_EQ(scalar_of(DType::kF32, (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1),
            scalar_of(DType::kF32, 0x1.000002p60));
  EXPECT_EQ(scalar_of(DType::kF32, std::numeric_limits<std::uint64_t>::max()), scalar_of(DType::kF32, 0x1p64));
  EXPECT_EQ(scalar_of(DType::kF64, kMax64), scalar_of(DType::kF64, 0x1p63));
  EXPECT_EQ(scalar_of(DType::kF16, kMin64), scalar_of(DType::kF16, -kInf));
}

TEST(Scalar, Text) {
  const std::pair<Scalar, const char*> rows[] = {
      {scalar_of(DType::kF32, 1.0), "1"},
      {scalar_of(DType::kF64, -0.5), "-0.5"},
      {scalar_of(DType::kF32, 0.1), "0.1"},
      {scalar_of(DType::kF16, 0.1), "0.1"},
      {scalar_of(DType::kBF16, 3.140625), "3.14"},
      {scalar_of(DType::kF64, 1e30), "1e+30"},
      {scalar_of(DType::kF32, -0.0), "-0"},
      {scalar_of(DType::kF32, kInf), "inf"},
      {scalar_of(DType::kBF16, -kInf), "-inf"},
      {scalar_of(DType::kF64, -kNan), "nan"},
      {scalar_of(DType::kF16, kNan), "nan"},
      {scalar_of(DType::kBool, std::int64_t{1}), "true"},
      {scalar_of(DType::kBool, 0.0), "false"},
      {scalar_of(DType::kI8, std::int64_t{-128}), "-128"},
      {scalar_of(DType::kU8, std::int64_t{65}), "65"},
      {scalar_of(DType::kU64, std::int64_t{-1}), "18446744073709551615"},
  };
  for (const auto& [scalar, text] : rows) EXPECT_EQ(to_string(scalar), text);
}

TEST(Scalar, TextReadsBackAsTheSameValue) {
  const auto expect_same = [](Scalar s) {
    const std::string text = to_string(s);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (is_nan(s)) return;
    ASSERT_EQ(scalar_of(s.dtype, read), s) << text;
  };
  for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
    expect_same({DType::kF16, bits});
    expect_same({DType::kBF16, bits});
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    expect_same({DType::kF32, random() >> 32});
    expect_same({DType::kF64, random()});
  }
}

TEST(Scalar, ReduceIdentities) {
  for (const DTypeRow& r : dtype_rows()) {
    for (const Op op : {Op::kAdd, Op::kMul, Op::kMax, Op::kMin}) {
      if (!accepts(op, r.dtype)) continue;
      const Scalar identity = reduce_identity(op, r.dtype);
      for (const std::int64_t value : {-3, 0, 1, 100}) {
        const Scalar x = scalar_of(r.dtype, value);
        EXPECT_EQ(run(op, r.dtype, {identity, x}), x) << name(op) << ' ' << r.name;
      }
    }
  }
  EXPECT_EQ(reduce_identity(Op::kMax, DType::kF16), scalar_of(DType::kF16, -kInf));
  EXPECT_EQ(reduce_identity(Op::kMin, DType::kBool), (Scalar{DType::kBool, 1}));
  EXPECT_EQ(reduce_identity(Op::kMin, DType::kU64), (Scalar{DType::kU64, ~std::uint64_t{0}}));
}

/// Under UBSan, that no op of any dtype has undefined behaviour on any pair of patterns; here, that all have a meaning.
TEST(Scalar, EveryOpOfEveryDTypeHasAMeaning) {
  std::mt19937_64 random(2);
  for (const OpRow& op : op_rows()) {
    if (op.cls != OpClass::kAlu || op.op == Op::kCast || op.op == Op::kBitcast || op.op == Op::kWhere) continue;
    const bool folded = op.op != Op::kExp2 && op.op != Op::kLog2 && op.op != Op::kSin;
    for (const DTypeRow& r : dtype_rows()) {
      if (!accepts(op.op, r.dtype)) continue;
      const DType result = op.result == OpResult::kBool ? DType::kBool : r.dtype;
      const auto pattern = [&]() -> Scalar {
        const std::uint64_t extremes[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << (8 * r.bytes - 1), random()};
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * r.bytes);
        return {r.dtype, extremes[random() % 5] & (r.dtype == DType::kBool ? 1 : mask)};
      };
      for (int i = 0; i < 300; ++i) {
        const auto value = evaluate(op.op, result, first(op.arity, {pattern(), pattern()}));
        ASSERT_EQ(value.has_value(), folded) << op.name << ' ' << r.name;
        if (!folded) break;
        ASSERT_EQ(value->dtype, result);
        ASSERT_EQ(value->bits & ~(~std::uint64_t{0} >> (64 - 8 * byte_size(result))), 0u) << op.name << ' ' << r.name;
      }
    }
  }
}

/// The letters of the laws column say what the scalar meanings do.
TEST(Scalar, LawsHold) {
  for (const OpRow& op : op_rows()) {
    if (op.arity != 2 || op.cls != OpClass::kAlu) {
      EXPECT_FALSE(has_law(op.op, 'c')) << op.name;
      continue;
    }
    bool commutes = true;
    for (const DTypeRow& r : dtype_rows()) {
      if (!accepts(op.op, r.dtype)) continue;
      for (const Scalar a : special_values(r.dtype))
        for (const Scalar b : special_values(r.dtype)) {
          const DType result = op.result == OpResult::kBool ? DType::kBool : r.dtype;
          const Scalar ab = evaluate(op.op, result, first(2, {a, b})).value();
          const Scalar ba = evaluate(op.op, result, first(2, {b, a})).value();
          commutes &= ab == ba || (is_float(result) && std::isnan(to_double(ab)) && std::isnan(to_double(ba)));
        }
    }
    EXPECT_EQ(commutes, has_law(op.op, 'c')) << op.name;
  }
}

}  // namespace
}  // namespace uop
