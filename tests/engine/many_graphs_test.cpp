// Ten thousand random graphs against the independent reference interpreter, many to a run of the C compiler; strict
// numerics has one answer, however a graph is cut, tiled and split between threads. The same seeds in every run;
// scripts/soak-diff takes others for as long as one likes.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/reference/graph_coverage.h"
#include "tests/reference/stretch.h"

namespace uop::reference {
namespace {

/// Most graphs are small: nearly all the time goes to the C compiler, by the kernel.
const Stretch kStretches[] = {
    {"tiny", 100'000, 4'000, 2},
    {"small", 200'000, 4'200, 3},
    {"middling", 300'000, 1'100, 8},
    {"large", 400'000, 400, 20},
    {"strict", 500'000, 300, 5, Kind::kStrict},
};

constexpr int kPiece = 500;  // of small graphs, some 20 seconds of a core

std::vector<Stretch> all_pieces() {
  std::vector<Stretch> all;
  for (const Stretch& s : kStretches)
    for (const Stretch& piece : pieces_of(s, s.steps <= 3 ? kPiece : s.kind == Kind::kStrict ? kPiece / 4 : kPiece / 2))
      all.push_back(piece);
  return all;
}

class ManyGraphs : public testing::TestWithParam<Stretch> {};

TEST_P(ManyGraphs, GiveWhatTheReferenceGives) {
  std::cout << testing::PrintToString(GetParam()) << std::endl;  // to be read where a kernel takes the process down
  Batches batches;
  const StretchResult result = run_stretch(batches, GetParam(), variants_of(GetParam().kind));
  for (const std::string& report : result.failed) ADD_FAILURE() << report;
  const Comparison& all = result.comparison;
  EXPECT_LT(all.skipped, (all.checked + all.skipped) / 10) << "too little was checked";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManyGraphs, testing::ValuesIn(all_pieces()),
                         [](const auto& piece) { return piece.param.name; });

TEST(ManyGraphsCoverage, EveryOpDTypeAndFormIsAmongThem) {
  GraphCoverage coverage;
  for (const Stretch& s : kStretches)
    for (int i = 0; i < s.graphs; i++) {
      const std::uint64_t seed = s.first_seed + static_cast<std::uint64_t>(i);
      coverage.add(case_of_seed(seed, s.steps), variants_of(s.kind)(seed));
    }
  EXPECT_GE(coverage.graphs(), 10'000);
  for (const auto& [form, graphs] : coverage.counts()) {
    RecordProperty(form, graphs);
    EXPECT_GE(graphs, 50) << "graphs with " << form;
  }
}

}  // namespace
}  // namespace uop::reference
