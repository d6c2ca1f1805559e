// The batches find a wrong kernel among many, blame the right case, and the case is made small; a kernel that the
// compiler refuses fails its own case only.
#include "tests/reference/batch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/traverse.h"
#include "tests/reference/stretch.h"

namespace uop::reference {
namespace {

constexpr int kSteps = 10;

/// Every kernel that calls `from` calls `to` instead.
KernelEdit calling(const std::string& from, const std::string& to) {
  return [=](std::string text) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
}

bool has_max(const RandomCase& c) {
  const std::vector<UOp> nodes = toposort(c.graph.roots);
  return std::any_of(nodes.begin(), nodes.end(), [](UOp u) {
    return u.dtype() == DType::kF32 && (u.op() == Op::kMax || (u.op() == Op::kReduce && u.arg().op == Op::kMax));
  });
}

/// Thirty cases, among which some have a MAX.
std::vector<RandomCase> cases() {
  std::vector<RandomCase> with_max;
  std::vector<RandomCase> all;
  for (std::uint64_t seed = 1; with_max.size() < 6 || all.size() < 24; seed++) {
    RandomCase c = random_case(seed, kSteps);
    std::vector<RandomCase>& list = has_max(c) ? with_max : all;
    if (list.size() < 24) list.push_back(std::move(c));
  }
  for (std::size_t i = 0; i < 6; i++) std::swap(all[3 * i], with_max[i]);
  return all;
}

TEST(Batches, AFaultIsFoundInTheCasesThatHaveIt) {
  Batches batches("", calling("uop_max_f32(", "uop_min_f32("));
  const std::vector<RandomCase> all = cases();
  const std::vector<Verdict> verdicts = batches.run(all, any_variant);
  ASSERT_EQ(verdicts.size(), all.size());
  int failed = 0;
  for (std::size_t i = 0; i < all.size(); i++) {
    if (!verdicts[i].problem) continue;
    failed++;
    EXPECT_TRUE(has_max(all[i])) << to_text(all[i]);
  }
  EXPECT_GT(failed, 0);
}

TEST(Batches, AReportHasTheSeedASmallGraphAndTheCommand) {
  Batches batches("", calling("uop_max_f32(", "uop_min_f32("));
  std::string report;
  for (std::uint64_t seed = 1; report.empty(); seed++)
    if (has_max(random_case(seed, kSteps)))
      for (const std::string& r : run_stretch(batches, {"", seed, 1, kSteps}, any_variant).failed) report = r;
  EXPECT_NE(report.find("MAX"), std::string::npos) << report;
  EXPECT_NE(report.find("again: scripts/soak-diff --seed "), std::string::npos) << report;
  std::size_t nodes = 0;
  for (std::size_t at = report.find("\n%"); at != std::string::npos; at = report.find("\n%", at + 1)) nodes++;
  EXPECT_GT(nodes, 0u) << report;
  EXPECT_LE(nodes, 4u) << report;
}

TEST(Batches, AKernelThatIsRefusedFailsItsOwnCase) {
  Batches batches("", calling("uop_max_f32(", "nothing("));
  std::vector<RandomCase> all = cases();
  const std::vector<Verdict> verdicts =
      batches.run(std::span(all).first(8), [](std::uint64_t) { return std::vector<Variant>{{}}; });
  int refused = 0;
  for (std::size_t i = 0; i < verdicts.size(); i++) {
    if (!verdicts[i].problem) continue;
    refused++;
    EXPECT_TRUE(has_max(all[i])) << *verdicts[i].problem;
    EXPECT_NE(verdicts[i].problem->find("no kernels"), std::string::npos) << *verdicts[i].problem;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 8);
}

}  // namespace
}  // namespace uop::reference
