// Random graphs through the whole engine, caches and all, under every set of options, against the independent reference
// interpreter. many_graphs_test.cpp has the bulk of the graphs, without the caches.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/reference/differential.h"
#include "tests/reference/shrink.h"
#include "tests/temporary_directory.h"

namespace uop::reference {
namespace {

/// A stretch of seeds; the numbers of graphs are what about half a minute of two cores takes, nearly all of it in the C
/// compiler, which starts anew for every kernel.
struct EngineStretch {
  const char* name;
  std::uint64_t first_seed;
  int graphs;
  int steps;
  std::vector<CompileOptions> options;
};

void PrintTo(const EngineStretch& s, std::ostream* out) {
  *out << s.name;
}

class RandomGraphs : public testing::TestWithParam<EngineStretch> {};

TEST_P(RandomGraphs, GiveWhatTheReferenceGives) {
  const EngineStretch& stretch = GetParam();
  const TemporaryDirectory cache;
  Differential engines(cache.path());
  Comparison all;
  for (int i = 0; i < stretch.graphs; i++) {
    const RandomCase c = random_case(stretch.first_seed + static_cast<std::uint64_t>(i), stretch.steps);
    const Verdict verdict = engines.run(c, stretch.options);
    all += verdict.comparison;
    if (!verdict.problem) continue;
    const RandomCase small = shrunk(
        c, [&](const RandomCase& candidate) { return engines.run(candidate, stretch.options).problem.has_value(); });
    FAIL() << *verdict.problem << "\nshrunk to " << to_text(small)
           << engines.run(small, stretch.options).problem.value_or("no longer fails");
  }
  EXPECT_LT(all.skipped, (all.checked + all.skipped) / 10) << "too little was checked";
}

std::vector<CompileOptions> strict_options() {
  std::vector<CompileOptions> options = all_options();
  std::erase_if(options, [](const CompileOptions& o) { return o.numerics != "strict"; });
  return options;
}

const EngineStretch kStretches[] = {
    {"small_under_all_options", 1'000, 20, 8, all_options()},
    {"strict_has_one_answer", 2'000, 20, 20, strict_options()},
    {"large_as_by_default", 3'000, 40, 30, {CompileOptions{}}},
    {"large_unoptimised", 4'000, 40, 30, {CompileOptions{.opt = 0}}},
};

std::string name_of(const testing::TestParamInfo<EngineStretch>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::ValuesIn(kStretches), name_of);

}  // namespace
}  // namespace uop::reference
