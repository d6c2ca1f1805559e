// Every case of tests/data/numeric gives what its row says: at each optimisation level, under default and strict
// numerics, with operands as buffers and as constants. The kernels of all cases are compiled together.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/compute_pool.h"
#include "tests/client/numeric_builders.h"
#include "tests/reference/compare.h"
#include "tests/reference/planned_case.h"

namespace uop::numeric {
namespace {

using reference::Bits;
using reference::load;

/// A value as `kind` compares it.
bool fits(const NumericCase& c, DType dtype, Bits actual, DType expected_dtype, Bits expected) {
  if (!is_float(dtype)) return reference::integer(dtype, actual) == reference::integer(expected_dtype, expected);
  const double a = reference::real(dtype, actual);
  const double b = reference::real(expected_dtype, expected);
  if (std::isnan(b)) return std::isnan(a);
  if (c.kind == "bits") return actual == expected;
  if (a == b) return true;
  return c.kind == "close" && std::isfinite(b) && std::fabs(a - b) <= c.atol + c.rtol * std::fabs(b);
}

/// What is wrong with the outputs, one after the other, as an answer.
std::optional<std::string> difference(const NumericCase& c, DType dtype, const reference::Bytes& actual,
                                      const NpyArray& expected) {
  if (is_float(dtype) != is_float(expected.dtype) || (c.kind != "policy" && dtype != expected.dtype))
    return fmt::format("the result is {}, not {}", name(dtype), name(expected.dtype));
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  const auto expected_size = static_cast<std::size_t>(byte_size(expected.dtype));
  if (actual.size() / size != expected.bytes.size() / expected_size)
    return fmt::format("{} elements, not {}", actual.size() / size, expected.bytes.size() / expected_size);
  for (std::size_t i = 0; i < actual.size() / size; i++) {
    const Bits got = load(dtype, &actual[i * size]);
    const Bits wanted = load(expected.dtype, &expected.bytes[i * expected_size]);
    if (!fits(c, dtype, got, expected.dtype, wanted))
      return fmt::format("element {} is {}, not {}", i, reference::to_text(dtype, got),
                         reference::to_text(expected.dtype, wanted));
  }
  return std::nullopt;
}

/// A case under one set of options, planned.
struct Job {
  const NumericCase* c;
  std::string how;
  reference::RandomCase graph;
  reference::PlannedCase planned;
};

class Cases {
 public:
  void add(const NumericCase& c, const Builder& builder) {
    for (const Operands operands : {Operands::kBuffers, Operands::kConstants})
      for (const std::int64_t opt : {0, 1})
        for (const char* numerics : {"default", "strict"}) {
          const CompileOptions options{.opt = opt, .numerics = numerics};
          Inputs inputs(c, operands);
          reference::RandomCase graph = inputs.graph_of(builder.build(inputs));
          StatusOr<reference::PlannedCase> planned =
              reference::PlannedCase::make(graph, options, options.numerics == "strict" ? strict_ : contracted_);
          ASSERT_TRUE(planned.ok()) << message(planned.status());
          const std::string how = fmt::format("{} ({}), opt={} numerics={}, operands as {}", c.name, c.expression, opt,
                                              numerics, operands == Operands::kBuffers ? "buffers" : "constants");
          jobs_.push_back({&c, how, std::move(graph), *std::move(planned)});
        }
  }

  void run() {
    ASSERT_TRUE(strict_.compile().ok());
    ASSERT_TRUE(contracted_.compile().ok());
    const auto pool = BufferPool::create(std::uint64_t{1} << 30);
    const auto threads = ComputePool::create(2);
    for (const Job& job : jobs_) {
      SCOPED_TRACE(job.how);
      const bool strict = job.how.find("numerics=strict") != std::string::npos;
      const auto outputs = job.planned.run(job.graph, strict ? strict_ : contracted_, false, *pool, *threads);
      ASSERT_TRUE(outputs.ok()) << message(outputs.status());
      reference::Bytes all;
      for (const reference::Bytes& output : *outputs) all.insert(all.end(), output.begin(), output.end());
      std::string problems;
      const DType dtype = job.graph.graph.roots.front().dtype();
      const bool fits_one = std::any_of(job.c->accepted.begin(), job.c->accepted.end(), [&](const NpyArray& expected) {
        const auto at = difference(*job.c, dtype, all, expected);
        problems += at.value_or("") + "\n";
        return !at;
      });
      EXPECT_TRUE(fits_one) << problems << to_text(job.graph);
    }
  }

 private:
  Toolchain toolchain_ = find_toolchain({}).value();
  reference::KernelBatch strict_{toolchain_, true};
  reference::KernelBatch contracted_{toolchain_, false};
  std::vector<Job> jobs_;
};

TEST(NumericCases, EachGivesWhatItsRowSays) {
  const std::vector<NumericCase> cases = read_cases(std::string(UOP_TEST_DATA) + "/numeric");
  ASSERT_EQ(cases.size(), std::size(kBuilders)) << "a case without a builder";
  Cases runs;
  for (std::size_t i = 0; i < cases.size(); i++) {
    const NumericCase& c = cases[i];
    SCOPED_TRACE(c.name);
    ASSERT_EQ(c.id, kBuilders[i].id) << "a case without a builder";
    if (c.kind == "raises") {
      Inputs inputs(c, Operands::kBuffers);
      EXPECT_THROW(kBuilders[i].build(inputs), ClientError);
      continue;
    }
    runs.add(c, kBuilders[i]);
  }
  runs.run();
}

}  // namespace
}  // namespace uop::numeric
