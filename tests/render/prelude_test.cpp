// The C functions of the prelude: what is picked, that every compiler takes them, and that each agrees with the scalar
// meaning bit for bit. Accuracy of EXP2, LOG2 and SIN: prelude_accuracy_test.cpp.
#include "core/render/prelude.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "core/ir/scalar.h"
#include "core/support/status.h"
#include "tests/render/c_build.h"

namespace uop {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Prelude, HoldsWhatIsNeededOnceAndInOrder) {
  EXPECT_EQ(prelude_for("out[i] = a[i] + b[i];"), "");
  EXPECT_EQ(prelude_for("my_uop_exp2_f32(x) + uop"), "");
  const std::string text = prelude_for("uop_floordiv_i32(a, b) + uop_mod_i32(a, uop_floordiv_i32(c, d))");
  EXPECT_EQ(count(text, "int uop_floordiv_i32("), 1u);
  EXPECT_EQ(count(text, "int uop_mod_i32("), 1u);
  EXPECT_LT(text.find("int uop_mod_i32(int a"), text.find("int uop_floordiv_i32(int a"));
  EXPECT_LT(text.find("int uop_div_i32(int a"), text.find("int uop_floordiv_i32(int a"));
  EXPECT_THAT(text, Not(HasSubstr("i64")));
  EXPECT_THAT(text, Not(HasSubstr("$")));
  EXPECT_THAT(text, Not(HasSubstr("#include")));
}

TEST(Prelude, AnUnknownNameIsABrokenInvariant) {
  EXPECT_THROW(prelude_for("uop_exp2_i32(x)"), BrokenInvariant);
  EXPECT_THROW(prelude_for("uop_exp2_f32x(x)"), BrokenInvariant);
}

/// A function of the prelude as a loop over buffers, and what it must compute.
struct Case {
  std::string symbol;
  std::string expression;  // of x[i] and z[i]
  DType from, to;
  std::function<Scalar(Scalar, Scalar)> expected;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string expression, DType from, DType to, std::function<Scalar(Scalar, Scalar)> expected) {
    cases.push_back({fmt::format("case_{}", cases.size()), std::move(expression), from, to, std::move(expected)});
  };
  const auto cast = [](DType to, Scalar x) { return *evaluate(Op::kCast, to, std::vector{x}); };
  for (const DTypeRow& r : dtype_rows()) {
    const DType t = r.dtype;
    if (!is_half(t)) {
      for (const Op op : {Op::kMax, Op::kMin})
        add(fmt::format("uop_{}_{}(x[i], z[i])", op == Op::kMax ? "max" : "min", r.name), t, t,
            [op, t](Scalar a, Scalar b) {
              return *evaluate(op, t, std::vector{a, b});
            });
      if (t != DType::kBool)
        add(fmt::format("uop_abs_{}(x[i])", r.name), t, t,
            [t](Scalar a, Scalar) { return *evaluate(Op::kAbs, t, std::vector{a}); });
    }
    if (is_integer(t)) {
      for (const Op op : {Op::kDiv, Op::kMod, Op::kFloorDiv, Op::kFloorMod, Op::kShl, Op::kShr}) {
        std::string function(row(op).c.substr(0, row(op).c.find('{')));  // "uop_div_"
        add(fmt::format("{}{}(x[i], z[i])", function, r.name), t, t, [op, t](Scalar a, Scalar b) {
          return *evaluate(op, t, std::vector{a, b});
        });
      }
      for (const DType from : {DType::kF32, DType::kF64})
        add(fmt::format("uop_cast_{}_{}(x[i])", name(from), r.name), from, t,
            [=](Scalar a, Scalar) { return cast(t, a); });
    } else if (is_half(t)) {
      add(fmt::format("uop_load_{}(x[i])", r.name), t, DType::kF32,
          [=](Scalar a, Scalar) { return cast(DType::kF32, a); });
      add(fmt::format("uop_store_{}(x[i])", r.name), DType::kF32, t, [=](Scalar a, Scalar) { return cast(t, a); });
      add(fmt::format("uop_round_{}(x[i])", r.name), DType::kF32, DType::kF32,
          [=](Scalar a, Scalar) { return cast(DType::kF32, cast(t, a)); });
      for (const DType from : {DType::kF64, DType::kI32, DType::kU32, DType::kI64, DType::kU64})
        add(fmt::format("uop_cast_{}_{}(x[i])", name(from), r.name), from, DType::kF32,
            [=](Scalar a, Scalar) { return cast(DType::kF32, cast(t, a)); });
    } else if (is_float(t)) {
      const std::pair<const char*, Op> functions[] = {{"sqrt", Op::kSqrt},
                                                      {"trunc", Op::kTrunc},
                                                      {"floor", Op::kFloor},
                                                      {"ceil", Op::kCeil},
                                                      {"round", Op::kRound}};
      for (const auto& [function, op] : functions)
        add(fmt::format("uop_{}_{}(x[i])", function, r.name), t, t,
            [op = op, t](Scalar a, Scalar) { return *evaluate(op, t, std::vector{a}); });
    }
  }
  return cases;
}

std::string loop(const Case& c) {
  return fmt::format(
      "void {}(long n, const {}* x, const {}* z, {}* y) {{\n  (void)z;\n"
      "  for (long i = 0; i < n; i++) y[i] = {};\n}}\n",
      c.symbol, row(c.from).c_memory, row(c.from).c_memory, row(c.to).c_memory, c.expression);
}

/// Extremes, every pattern of a small dtype, points where rounding turns, and random patterns.
std::vector<Scalar> values_of(DType dtype) {
  std::vector<Scalar> values;
  const std::uint64_t mask = dtype == DType::kBool ? 1 : ~std::uint64_t{0} >> (64 - 8 * byte_size(dtype));
  for (std::uint64_t bits = 0; bits <= std::min<std::uint64_t>(mask, 0xffff); bits += mask > 0xffff ? 257 : 1)
    values.push_back({dtype, bits});
  std::mt19937_64 random(3);
  if (is_float(dtype)) {
    // Around every power of two, and around the middle between two halves of that size.
    for (int exponent = -150; exponent < 130; ++exponent) {
      for (const double tail : {0.0, 0x1p-8, 0x1p-9, 0x1p-11, 0x1p-12, 0x1p-24, 0.5, 0.75 - 0x1p-11}) {
        for (const double nudge : {0.0, 0x1p-23, -0x1p-24, 0x1p-40, -0x1p-40}) {
          const Scalar s = scalar_of(dtype, std::ldexp(1 + tail + nudge, exponent));
          values.push_back(s);
          values.push_back(scalar_of(dtype, -to_double(s)));
        }
      }
    }
    for (int i = -600; i <= 600; ++i) values.push_back(scalar_of(dtype, i / 4.0));
    for (const double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      for (const double sign : {1.0, -1.0}) values.push_back(scalar_of(dtype, sign * special));
  } else {
    for (int shift = 0; shift < 64; ++shift)
      for (std::uint64_t near = 0; near < 5; ++near) {
        values.push_back({dtype, ((std::uint64_t{1} << shift) + near - 2) & mask});
        values.push_back({dtype, (~(std::uint64_t{1} << shift) + near) & mask});
        values.push_back({dtype, ((std::uint64_t{0x10100} << shift) + near - 2) & mask});
      }
  }
  for (int i = 0; i < 10'000; ++i) values.push_back({dtype, random() & mask});
  return values;
}

std::vector<unsigned char> memory_of(const std::vector<Scalar>& values) {
  const auto size = static_cast<std::size_t>(byte_size(values[0].dtype));
  std::vector<unsigned char> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * size], &values[i].bits, size);
  return bytes;
}

TEST(Prelude, AgreesWithTheScalarMeaningBitForBit) {
  const std::vector<Case> cases = all_cases();
  std::string body;
  for (const Case& c : cases) body += loop(c);
  const std::vector<std::string> commands = all_builds();
  std::vector<std::unique_ptr<CBuild>> builds;
  for (const std::string& compile : commands)
    builds.push_back(std::make_unique<CBuild>(prelude_for(body) + body, compile));
  for (const Case& c : cases) {
    const std::vector<Scalar> x = values_of(c.from);
    std::vector<Scalar> z = x, expected;
    std::shuffle(z.begin(), z.end(), std::mt19937_64(4));
    // Small amounts and divisors as well.
    for (std::size_t i = 0; i < z.size(); i += 3) z[i] = scalar_of(c.from, static_cast<std::int64_t>(i % 140) - 70);
    for (std::size_t i = 0; i < z.size(); ++i) expected.push_back(c.expected(x[i], z[i]));
    const auto x_memory = memory_of(x), z_memory = memory_of(z);
    const auto size = static_cast<std::size_t>(byte_size(c.to));
    std::vector<unsigned char> y_memory(x.size() * size);
    for (std::size_t b = 0; b < builds.size(); ++b) {
      auto* run = builds[b]->function<void(long, const void*, const void*, void*)>(c.symbol);
      ASSERT_NE(run, nullptr);
      run(static_cast<long>(x.size()), x_memory.data(), z_memory.data(), y_memory.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        Scalar y{c.to, 0};
        std::memcpy(&y.bits, &y_memory[i * size], size);
        if (y == expected[i] || (is_nan(y) && is_nan(expected[i]))) continue;
        FAIL() << c.expression << " of " << to_string(x[i]) << " and " << to_string(z[i]) << " is " << to_string(y)
               << ", not " << to_string(expected[i]) << "\n"
               << commands[b];
      }
    }
  }
}

/// What a kernel's speed hangs on: gcc makes vector loops of these.
TEST(Prelude, MakesVectorLoops) {
  const std::pair<const char*, const char*> rows[] = {
      {"uop_exp2_f32", "float"},
      {"uop_log2_f32", "float"},
      {"uop_sin_f32", "float"},
      {"uop_exp2_f64", "double"},
      {"uop_log2_f64", "double"},
      {"uop_floor_f32", "float"},
      {"uop_round_f64", "double"},
      {"uop_round_f16", "float"},
      {"uop_round_bf16", "float"},
      {"uop_sqrt_f32", "float"},
      {"uop_cast_f32_i32", "int"},
      {"uop_cast_f32_u8", "unsigned char"},
      {"uop_load_f16", "float"},
      {"uop_load_bf16", "float"},
      {"uop_store_f16", "unsigned short"},
      {"uop_store_bf16", "unsigned short"},
  };
  for (const auto& [function, result] : rows) {
    const std::string_view name = function;
    const char* argument = name.starts_with("uop_load") ? "unsigned short" : name.ends_with("f64") ? "double" : "float";
    const std::string body = fmt::format(
        "void run(long n, const {}* restrict x, {}* restrict y) {{\n"
        "  for (long i = 0; i < n; i++) y[i] = {}(x[i]);\n}}\n",
        argument, result, function);
    const CBuild build(prelude_for(body) + body, "gcc -O3 -march=x86-64-v3 -fopt-info-vec " + kKernelFlags);
    EXPECT_THAT(build.log(), HasSubstr("loop vectorized")) << function;
  }
}

}  // namespace
}  // namespace uop
