// The memory of a run: what the plan said and no more, nothing new when warm, and no content from before.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/exec/executor_fixture.h"

namespace uop {
namespace {

bool holds_only(const BufferPtr& buffer, int byte) {
  const std::string bytes = bytes_of(buffer);
  return std::all_of(bytes.begin(), bytes.end(), [byte](char c) { return static_cast<unsigned char>(c) == byte; });
}

TEST_F(ExecutorTest, ARunTakesWhatThePlanSaid) {
  const auto of_inputs = BufferPool::create(256 << 20);  // which are no part of a run
  for (const std::int64_t rows : {0, 1, 3, 1000, 50'000}) {
    const Plan plan = scale_and_sum(rows);
    const BufferPtr input = of_inputs->allocate(plan.inputs[0].bytes(), true).value();
    pool = BufferPool::create(256 << 20);
    const StatusOr<Execution> execution = run(plan, {input}, {1, 1});
    ASSERT_TRUE(execution.ok()) << execution.status();
    EXPECT_EQ(pool->stats().peak_asked_bytes, plan.scratch_bytes + plan.output_bytes()) << rows;
  }
}

// Kernels of a plan in which tmp1 has the place of tmp0, that read what they must not: verify_plan refuses such plans,
// the executor runs them.
void fill_with_ones(void* const* buffers, const std::int64_t*, std::int64_t, std::int64_t) {
  std::memset(buffers[0], 1, 256);
}
void copy(void* const* buffers, const std::int64_t*, std::int64_t, std::int64_t) {
  std::memcpy(buffers[1], buffers[0], 256);
}
void nothing(void* const*, const std::int64_t*, std::int64_t, std::int64_t) {}

struct StrayRead {
  const char* what;
  Plan plan;
};

std::vector<StrayRead> stray_reads() {
  const TensorSpec t{DType::kU8, 256};
  const Plan base{.programs = {{"fill_with_ones"}, {"copy"}, {"nothing"}},
                  .temps = {{t, 0, 1, 0}, {t, 2, 3, 0}},
                  .outputs = {{t}, {t}},
                  .scratch_bytes = 256};
  const auto with = [&](std::vector<KernelLaunch> kernels) {
    Plan plan = base;
    plan.kernels = std::move(kernels);
    return plan;
  };
  const KernelLaunch fill{"fill", 0, {tmp(0)}, {}, 1, 1, 256};
  const KernelLaunch use{"use", 1, {tmp(0), out(0)}, {}, 1, 1, 256};
  const KernelLaunch forget{"forget", 2, {tmp(1)}, {}, 1, 1, 256};
  return {
      {"a temporary that its kernel forgets to write, where another lay before",
       with({fill, use, forget, {"read", 1, {tmp(1), out(1)}, {}, 1, 1, 256}})},
      {"a temporary after its last kernel", with({fill, use, {"read", 1, {tmp(0), out(1)}, {}, 1, 1, 256}})},
      {"an output that nobody wrote", with({fill, use, {"read", 1, {out(1), tmp(1)}, {}, 1, 1, 256}})},
  };
}

TEST_F(ExecutorTest, PoisonShowsReadsOfContentFromBefore) {
  entries = {fill_with_ones, copy, nothing};
  pool = BufferPool::create(1 << 20, /*poison=*/true);
  for (const StrayRead& row : stray_reads())
    for (int round = 0; round < 3; ++round) {  // fresh memory, then memory of the run before
      const StatusOr<Execution> execution = run(row.plan, {}, {});
      ASSERT_TRUE(execution.ok()) << execution.status();
      EXPECT_TRUE(holds_only(execution->outputs[0], 1)) << row.what;
      EXPECT_TRUE(holds_only(execution->outputs[1], kPoisonByte)) << row.what;
    }
}

#ifdef NDEBUG
TEST_F(ExecutorTest, WithoutPoisonTheyPassUnseen) {
  entries = {fill_with_ones, copy, nothing};
  pool = BufferPool::create(1 << 20);
  EXPECT_TRUE(holds_only(run(stray_reads()[0].plan, {}, {})->outputs[1], 1));
}
#endif

TEST_F(ExecutorTest, PoisonChangesNoResult) {
  std::vector<std::string> results;
  for (const bool poison : {false, true}) {
    pool = BufferPool::create(64 << 20, poison);
    const StatusOr<Execution> execution = run(scale_and_sum(1000), {matrix(1000)}, {7, 1});
    ASSERT_TRUE(execution.ok()) << execution.status();
    results.push_back(bytes_of(execution->outputs[0]) + bytes_of(execution->outputs[1]));
  }
  EXPECT_TRUE(results[0] == results[1]);
}

std::int64_t minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_F(ExecutorTest, WarmRunsTouchNothingNew) {
  const std::int64_t rows = (16 << 20) / (kColumns * 4);  // 16 MiB of scratch and of output a run
  const Plan plan = scale_and_sum(rows);
  const BufferPtr input = matrix(rows);
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(run(plan, {input}, {1, 1}).ok());
  const BufferPoolStats before = pool->stats();
  // Fresh memory would cost 16 faults a run in huge pages, 8192 in small ones. The system may move a page now and
  // then, so that some stretch must be without any, not each. The malloc of AddressSanitizer hands out fresh memory.
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (int stretch = 0; stretch < 10 && fewest > 0; ++stretch) {
    const std::int64_t faults = minor_faults();
    for (int round = 0; round < 20; ++round) ASSERT_TRUE(run(plan, {input}, {1, 1}).ok());
    fewest = std::min(fewest, minor_faults() - faults);
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_LT(fewest, 100);
#else
  EXPECT_EQ(fewest, 0);
#endif
  const BufferPoolStats after = pool->stats();
  EXPECT_EQ(after.in_use_bytes, before.in_use_bytes);
  EXPECT_EQ(after.cached_bytes, before.cached_bytes);
  EXPECT_EQ(after.peak_bytes, before.peak_bytes);
  EXPECT_EQ(after.allocations - before.allocations, after.reuses - before.reuses);
}

}  // namespace
}  // namespace uop
