// The meaning of the numbers: rows for each sentence of the numerics contract, operands as buffers and as constants,
// under opt 0 and 1, default and strict numerics, one thread and two. `expected` is worked out by hand; the reference
// interpreter must agree with it, and the engine with the reference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cfenv>
#include <cmath>
#include <filesystem>

#include "tests/engine/numerics_case.h"
#include "tests/engine/numerics_of_graphs.h"
#include "tests/engine/numerics_of_ops.h"
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

template <class Row>
class NumbersOf : public Numbers, public testing::WithParamInterface<Row> {
 protected:
  void expect_row() {
    for (const Operands how : {Operands::kBuffers, Operands::kConstants}) {
      SCOPED_TRACE(how == Operands::kBuffers ? "as buffers" : "as constants");
      expect(case_of(this->GetParam(), how), this->GetParam().expected);
    }
  }
};

constexpr auto kName = [](const auto& info) { return std::string(info.param.name); };

// --- One op ---

class OneOp : public NumbersOf<ElementwiseRow> {};
TEST_P(OneOp, GivesWhatTheContractSays) {
  expect_row();
}

INSTANTIATE_TEST_SUITE_P(Rows, OneOp, testing::ValuesIn(kOneOpRows), kName);

// --- Several ops ---

class SomeOps : public NumbersOf<GraphRow> {};
TEST_P(SomeOps, GiveWhatTheContractSays) {
  expect_row();
}

INSTANTIATE_TEST_SUITE_P(Rows, SomeOps, testing::ValuesIn(kGraphRows), kName);

// --- What is not a row ---

TEST_F(Numbers, AMaxOverNothingIsACleanError) {
  const auto graph = parse_text("%0 = BUFFER slot=0 size=0 : f32[0]\n%1 = REDUCE(%0) op=MAX axes=1\nreturn %1");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Numbers, IndicesAre64BitWhereABoundIsBeyond32) {
  const GraphRow row{"",
                     "%0 = CONST value=1 : i64[]\n%1 = RESHAPE(%0) shape=[1]\n%2 = EXPAND(%1) shape=[2147483656]\n"
                     "%3 = REDUCE(%2) op=ADD axes=1\nreturn %3",
                     {},
                     ""};
  for (const CompileOptions& o : options()) {
    const StatusOr<std::vector<Bytes>> outputs = engines_->run_once(case_of(row, Operands::kBuffers), o);
    ASSERT_TRUE(outputs.ok()) << message(outputs.status());
    EXPECT_EQ(outputs->front(), bytes_of_text(DType::kI64, "2147483656")) << to_text(o);
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

/// Sums of many equal terms, where a plain loop is at its worst.
TEST_F(Numbers, DefaultSumsAreAtLeastAsAccurateAsAPlainLoop) {
  constexpr int kTerms = 20'000;
  RandomCase c =
      case_of(GraphRow{"",
                       "%0 = CONST value=0.1 : f32[]\n%1 = RESHAPE(%0) shape=[1]\n%2 = EXPAND(%1) shape=[20000]\n"
                       "%3 = STAGE(%2)\n%4 = REDUCE(%3) op=ADD axes=1\nreturn %4",
                       {},
                       ""},
              Operands::kBuffers);
  const double exact_sum = kTerms * static_cast<double>(0.1f);
  float plain = 0;
  for (int i = 0; i < kTerms; i++) plain += 0.1f;
  for (const std::int64_t opt : {0, 1}) {
    const StatusOr<std::vector<Bytes>> outputs = engines_->run_once(c, {.opt = opt});
    ASSERT_TRUE(outputs.ok()) << message(outputs.status());
    const double sum = real(DType::kF32, load(DType::kF32, outputs->front().data()));
    EXPECT_LE(std::fabs(sum - exact_sum), std::fabs(plain - exact_sum)) << "opt=" << opt;
  }
}

}  // namespace
}  // namespace uop::reference
