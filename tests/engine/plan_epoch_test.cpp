// Plans outlive the build that made them, so a build that plans otherwise must not serve them: kPlanEpoch is part of
// their keys. Where this test fails, plans have changed: raise kPlanEpoch (core/compiler.h), and write the epoch and
// the digest that it prints here.
#include <gtest/gtest.h>

#include "core/compiler.h"
#include "core/support/digest.h"
#include "tests/engine/chapter_graphs.h"
#include "tests/engine/scale_graphs.h"

namespace uop {
namespace {

constexpr int kEpoch = 3;
constexpr std::string_view kDigest = "195db3650e7bc28c";

TEST(PlanEpoch, GoesWithThePlans) {
  const auto chapter_graph = [](Graph& g, int) {
    const UOp x = chapter::input(g, 0, {128, 256});
    return scale::Roots{chapter::matmul(chapter::layernorm(x), chapter::input(g, 1, {256, 256})), chapter::softmax(x)};
  };
  // The windows of three elements that a convolution reads: rows one longer than what they repeat.
  const auto windows = [](Graph& g, int) -> scale::Roots {
    UOp x = expand(reshape(chapter::input(g, 0, {12}), {1, 12}), {4, 12});
    x = reshape(shrink(reshape(x, {48}), {0, 39}), {3, 13});
    return {reduce(Op::kAdd, permute(shrink(x, {0, 3, 0, 10}), {1, 0}), 1)};
  };
  std::vector<scale::Family> families(std::begin(scale::kFamilies), std::end(scale::kFamilies));
  families.push_back({"chapter", chapter_graph});
  families.push_back({"windows", windows});
  std::string plans;
  for (const scale::Family& family : families)
    for (const std::int64_t opt : {0, 1}) {
      Graph graph;
      const scale::Roots roots = family.make(graph, 1'200);
      CompileOptions options;
      options.opt = opt;
      const StatusOr<Plan> plan = compile_plan(roots, options);
      ASSERT_TRUE(plan.ok()) << message(plan.status());
      plans += to_text(*plan);
      for (const KernelProgram& p : plan->programs) plans += p.source;
    }
  const std::string digest = sha256(plans).hex().substr(0, 16);
  EXPECT_TRUE(kPlanEpoch == kEpoch && digest == kDigest) << "epoch " << kPlanEpoch << ", digest " << digest;
}

}  // namespace
}  // namespace uop
