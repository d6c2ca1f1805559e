// The meaning of the numbers: rows for each sentence of the numerics contract, operands as buffers and as constants,
// under opt 0 and 1, default and strict numerics, one thread and two. `expected` is worked out by hand; the reference
// interpreter must agree with it, and the kernels with the reference.
//
// Sentence by sentence:
//   each op rounds, halves accumulate in f32, nothing flushed    numerics_of_ops.h, numerics_of_graphs.h
//   kernels leave the floating-point state alone                 KernelsLeaveTheFloatingPointStateAlone
//   no reassociation; strict forbids FMA and another order       numerics_of_graphs.h
//   strict: one answer for every tiling, fusion, thread count    many_graphs_test.cpp, the strict stretch
//   numerics are part of the key                                 NumericsArePartOfTheKey
//   default sums at least as accurate as a plain loop            DefaultSumsAreAtLeastAsAccurateAsAPlainLoop
//   NaN in MAX, MIN and their reductions; x*0; x+0; comparisons  numerics_of_ops.h, ANaNAtAnyPlaceIsTheMaxAndTheMin
//   integers wrap, division, shifts, conversions                 numerics_of_ops.h
//   all of these for every dtype on every special value          every_op_test.cpp
//   reductions over nothing; size-0 and 0-d everywhere           numerics_of_graphs.h, AMaxOrMinOverNothing…, every_op
//   64-bit indices                                               IndicesAre64BitWhereABoundIsBeyond32
//   an index out of range                                        numerics_of_graphs.h, every_op_test.cpp
#include <gtest/gtest.h>
#include <unistd.h>

#include <cfenv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "tests/engine/numerics_case.h"
#include "tests/engine/numerics_of_graphs.h"
#include "tests/engine/numerics_of_ops.h"
#include "tests/reference/batch.h"
#include "tests/reference/differential.h"
#include "tests/reference/interpret.h"

namespace uop::reference {
namespace {

class Numbers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cache_ = std::filesystem::temp_directory_path() / ("uop_numerics_" + std::to_string(getpid()));
    engines_ = std::make_unique<Differential>(cache_);
  }
  static void TearDownTestSuite() {
    engines_.reset();
    std::filesystem::remove_all(cache_);
  }

  static std::vector<CompileOptions> options() {
    std::vector<CompileOptions> all;
    for (const std::int64_t opt : {0, 1})
      for (const char* numerics : {"strict", "default"}) all.push_back({.opt = opt, .numerics = numerics});
    return all;
  }

  static void expect(const RandomCase& c, std::string_view expected) {
    const Tensor result = interpret(c.graph.roots, c.inputs, Numerics::kStrict).front();
    EXPECT_EQ(compare(bytes_of_text(result.dtype, expected), result).difference, std::nullopt) << to_text(c);
    EXPECT_EQ(engines_->run(c, options()).problem, std::nullopt) << to_text(c);
  }

  static inline std::filesystem::path cache_;
  static inline std::unique_ptr<Differential> engines_;
};

/// All rows in one batch. The reference must give what the row says, and the kernels what the reference gives.
template <class Rows>
void expect_rows(const Rows& rows) {
  std::vector<Variant> variants;
  for (const std::int64_t opt : {0, 1})
    for (const char* numerics : {"strict", "default"})
      variants.push_back({.options = {.opt = opt, .numerics = numerics}, .split = true});
  std::vector<RandomCase> cases;
  for (const auto& row : rows)
    for (const Operands how : {Operands::kBuffers, Operands::kConstants}) {
      cases.push_back(case_of(row, how));
      const RandomCase& c = cases.back();
      const Tensor result = interpret(c.graph.roots, c.inputs, Numerics::kStrict).front();
      EXPECT_EQ(compare(bytes_of_text(result.dtype, row.expected), result).difference, std::nullopt) << row.name << "\n"
                                                                                                     << to_text(c);
    }
  const std::vector<Verdict> verdicts = Batches().run(cases, [&](std::uint64_t) { return variants; });
  for (std::size_t i = 0; i < cases.size(); i++)
    EXPECT_EQ(verdicts[i].problem, std::nullopt)
        << rows[i / 2].name << (i % 2 == 0 ? " as buffers\n" : " as constants\n") << to_text(cases[i]);
}

TEST(NumberRows, OneOpGivesWhatTheContractSays) {
  expect_rows(kOneOpRows);
}

TEST(NumberRows, SeveralOpsGiveWhatTheContractSays) {
  expect_rows(kGraphRows);
}

// --- What is not a row ---

TEST_F(Numbers, AMaxOrMinOverNothingIsACleanError) {
  for (const DTypeRow& d : dtype_rows())
    for (const char* op : {"MAX", "MIN"})
      for (const char* shape : {"0", "3,0"}) {
        const auto graph =
            parse_text(fmt::format("%0 = BUFFER slot=0 size=0 : {}[0]\n%1 = RESHAPE(%0) shape=[{}]\n"
                                   "%2 = REDUCE(%1) op={} axes=1\nreturn %2",
                                   d.name, shape, op));
        ASSERT_FALSE(graph.ok()) << d.name << op << shape;
        EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
        EXPECT_NE(message(graph.status()).find("REDUCE"), std::string::npos) << message(graph.status());
      }
}

/// In whatever lane of a vector, and in whatever order, a loop meets it.
TEST_F(Numbers, ANaNAtAnyPlaceIsTheMaxAndTheMin) {
  std::string expected;
  for (int i = 0; i < 40; i++) expected += "nan ";
  for (const char* dtype : {"f16", "bf16", "f32", "f64"})
    for (const char* op : {"MAX", "MIN"}) {
      const std::string text = fmt::format(
          "%0 = IOTA n=40 : i32[40]\n%1 = RESHAPE(%0) shape=[40,1]\n%2 = EXPAND(%1) shape=[40,40]\n"
          "%3 = RESHAPE(%0) shape=[1,40]\n%4 = EXPAND(%3) shape=[40,40]\n%5 = CMPEQ(%2, %4)\n"
          "%6 = CONST value=nan : {0}[]\n%7 = RESHAPE(%6) shape=[1,1]\n%8 = EXPAND(%7) shape=[40,40]\n"
          "%9 = CAST(%4) : {0}[40,40]\n%10 = WHERE(%5, %8, %9)\n%11 = STAGE(%10)\n%12 = REDUCE(%11) op={1} axes=1\n"
          "return %12",
          dtype, op);
      expect(case_of(GraphRow{"", text.c_str(), {}, ""}, Operands::kBuffers), expected);
    }
}

TEST_F(Numbers, NumericsArePartOfTheKey) {
  const RandomCase c = case_of(kOneOpRows[0], Operands::kBuffers);
  EXPECT_NE(key_text({.numerics = "strict"}), key_text({.numerics = "default"}));
  EXPECT_NE(engines_->plan_id(c, {.numerics = "strict"}), engines_->plan_id(c, {.numerics = "default"}));
  EXPECT_EQ(engines_->plan_id(c, {.numerics = "strict"}), engines_->plan_id(c, {.numerics = "strict"}));
}

/// Too many elements for the reference: expected values only.
TEST_F(Numbers, IndicesAre64BitWhereABoundIsBeyond32) {
  const GraphRow rows[] = {
      {"counted",
       "%0 = CONST value=1 : i64[]\n%1 = RESHAPE(%0) shape=[1]\n%2 = EXPAND(%1) shape=[2147483656]\n"
       "%3 = REDUCE(%2) op=ADD axes=1\nreturn %3",
       {},
       "2147483656"},
      {"the_last_of_a_long_iota",
       "%0 = IOTA n=8589934592 : i64[8589934592]\n%1 = SHRINK(%0) begin_end=[8589934590,8589934592]\nreturn %1",
       {},
       "8589934590 8589934591"},
      {"the_first_of_a_long_flip",
       "%0 = IOTA n=8589934592 : u64[8589934592]\n%1 = FLIP(%0) flags=[1]\n%2 = SHRINK(%1) begin_end=[0,2]\nreturn %2",
       {},
       "8589934591 8589934590"},
      {"rows_and_columns",
       "%0 = IOTA n=4294967296 : i64[4294967296]\n%1 = RESHAPE(%0) shape=[65536,65536]\n%2 = PERMUTE(%1) order=[1,0]\n"
       "%3 = SHRINK(%2) begin_end=[65535,65536,65534,65536]\nreturn %3",
       {},
       "4294901759 4294967295"},
      {"gathered",
       "%0 = IOTA n=8589934592 : i64[8589934592]\n%1 = BUFFER slot=0 size=3 : i64[3]\n"
       "%2 = GATHER(%0, %1) axis=0\nreturn %2",
       {"4294967301 8589934592 8589934591"},
       "4294967301 0 8589934591"},
  };
  for (const GraphRow& row : rows)
    for (const CompileOptions& o : options()) {
      const RandomCase c = case_of(row, Operands::kBuffers);
      const StatusOr<Outputs> outputs = engines_->run_once(c, o);
      ASSERT_TRUE(outputs.ok()) << row.name << ": " << message(outputs.status());
      EXPECT_EQ(outputs->front(), bytes_of_text(c.graph.roots.front().dtype(), row.expected))
          << row.name << " " << to_text(o);
    }
}

TEST_F(Numbers, KernelsLeaveTheFloatingPointStateAlone) {
  const int rounding = std::fegetround();
  expect(case_of(kOneOpRows[0], Operands::kBuffers), kOneOpRows[0].expected);
  EXPECT_EQ(std::fegetround(), rounding);
  volatile float denormal = 1e-40f;
  denormal = denormal * 0.5f;
  EXPECT_GT(denormal, 0.0f);
}

/// A plain loop in the accumulator's type, rounded once to the dtype.
double plain_sum(DType dtype, const std::vector<double>& terms) {
  if (dtype == DType::kF64) return std::accumulate(terms.begin(), terms.end(), 0.0);
  float sum = 0;
  for (const double term : terms) sum += static_cast<float>(term);
  return real(dtype, rounded(dtype, sum));
}

/// Sums of many equal terms, where a plain loop is at its worst, and of growing and of alternating ones.
TEST_F(Numbers, DefaultSumsAreAtLeastAsAccurateAsAPlainLoop) {
  constexpr int kTerms = 20'000;
  const std::function<double(int)> kinds[] = {
      [](int) { return 0.1; },
      [](int i) { return 1.0 / (kTerms - i); },
      [](int i) { return (i % 2 == 0 ? 1.0 : -0.75) * (1 + i % 7) / 3; },
  };
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64})
    for (const auto& kind : kinds) {
      RandomCase c = case_of(
          GraphRow{"",
                   fmt::format("%0 = BUFFER slot=0 size={0} : {1}[{0}]\n%1 = REDUCE(%0) op=ADD axes=1\nreturn %1",
                               kTerms, name(dtype))
                       .c_str(),
                   {""},
                   ""},
          Operands::kBuffers);
      std::vector<double> terms;
      long double exact_sum = 0;
      const auto size = static_cast<std::size_t>(byte_size(dtype));
      Bytes bytes(kTerms * size);
      for (int i = 0; i < kTerms; i++) {
        const Bits term = rounded(dtype, kind(i));
        terms.push_back(real(dtype, term));
        exact_sum += terms.back();
        store(dtype, term, &bytes[static_cast<std::size_t>(i) * size]);
      }
      c.inputs.buffers[0] = bytes;
      // A loop in another order may be luckier by a unit in the last place: that much is allowed for.
      const double plain = plain_sum(dtype, terms);
      const double unit = next(dtype, std::fabs(plain), 1) - std::fabs(plain);
      const auto error_of = [&](double sum) { return std::fabs(static_cast<double>(sum - exact_sum)); };
      for (const std::int64_t opt : {0, 1}) {
        const StatusOr<Outputs> outputs = engines_->run_once(c, {.opt = opt});
        ASSERT_TRUE(outputs.ok()) << message(outputs.status());
        const double sum = real(dtype, load(dtype, outputs->front().data()));
        EXPECT_LE(error_of(sum), error_of(plain) + unit) << name(dtype) << " opt=" << opt;
      }
    }
}

}  // namespace
}  // namespace uop::reference
