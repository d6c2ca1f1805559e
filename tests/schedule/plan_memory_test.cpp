// The memory plan: rows of lifetimes with the bytes they must take, and random ones that verify_plan judges.
#include "core/schedule/plan_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "core/ir/verify_plan.h"

namespace uop {
namespace {

/// A chain of kernels: kernel k writes temporary k (of sizes[k] f32), read up to kernel last[k]; the last kernel writes
/// the output.
Plan chain(const std::vector<std::int64_t>& sizes, const std::vector<std::uint32_t>& last) {
  Plan plan;
  plan.programs.push_back({"void UOP_ENTRY(void *const *b, const long *v, long i, long n) {}"});
  plan.outputs.push_back({{DType::kF32, 1}});
  const auto kernels = static_cast<std::uint32_t>(sizes.size()) + 1;
  for (std::uint32_t k = 0; k < kernels; k++) {
    KernelLaunch launch{"e", 0, {}, {}, 1, 0, 0};
    for (std::uint32_t t = 0; t < k; t++)
      if (last[t] >= k) launch.refs.push_back({BufferRef::Kind::kTmp, t});
    if (k + 1 < kernels) {
      launch.refs.push_back({BufferRef::Kind::kTmp, k});
    } else {
      launch.refs.push_back({BufferRef::Kind::kOut, 0});
    }
    plan.kernels.push_back(launch);
  }
  std::vector<TensorSpec> temps;
  for (const std::int64_t n : sizes) temps.push_back({DType::kF32, n});
  plan_memory(plan, temps);
  return plan;
}

struct Row {
  const char* what;
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> last;
  std::uint64_t bytes;
};

TEST(PlanMemory, Rows) {
  const Row rows[] = {
      {"none", {}, {}, 0},
      {"one", {16}, {1}, 64},
      {"sizes are rounded up to the alignment", {1}, {1}, 64},
      {"a chain alternates between two places", {16, 16, 16, 16}, {1, 2, 3, 4}, 128},
      {"all alive to the end share nothing", {16, 16, 16}, {3, 3, 3}, 192},
      {"neighbours that became free serve a larger one", {16, 16, 32, 32}, {2, 2, 3, 4}, 256},
  };
  for (const Row& r : rows) {
    const Plan plan = chain(r.sizes, r.last);
    EXPECT_EQ(plan.scratch_bytes, r.bytes) << r.what;
    EXPECT_TRUE(verify_plan(plan).ok()) << r.what << ": " << message(verify_plan(plan));
  }
}

TEST(PlanMemory, RandomLifetimesNeverOverlap) {
  std::mt19937_64 random(20260103);
  for (int round = 0; round < 300; round++) {
    std::vector<std::int64_t> sizes(1 + random() % 40);
    std::vector<std::uint32_t> last(sizes.size());
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < sizes.size(); t++) {
      sizes[t] = static_cast<std::int64_t>(1 + random() % 1000);
      last[t] = static_cast<std::uint32_t>(t + 1 + random() % (sizes.size() - t));
      sum += static_cast<std::uint64_t>((sizes[t] * 4 + 63) / 64 * 64);
    }
    const Plan plan = chain(sizes, last);
    ASSERT_TRUE(verify_plan(plan).ok()) << "round " << round << ": " << message(verify_plan(plan));
    EXPECT_LE(plan.scratch_bytes, sum);
  }
}

}  // namespace
}  // namespace uop
