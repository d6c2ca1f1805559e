// parallel_for: every part runs once, whoever runs it; cancellation, failures, nesting, many callers at a time.
#include "core/exec/compute_pool.h"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace uop {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using Slices = std::set<std::pair<std::int64_t, std::int64_t>>;

Slices slices_of(ComputePool& pool, std::int64_t n, std::int64_t grain) {
  Slices slices;
  std::mutex mutex;
  const Status status = pool.parallel_for(n, grain, {}, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(slices.emplace(begin, end).second);
  });
  EXPECT_TRUE(status.ok()) << status;
  return slices;
}

TEST(ComputePool, SlicesAreTheSameForAnyNumberOfThreads) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  struct Row {
    std::int64_t n, grain;
    Slices slices;
  };
  const Row rows[] = {
      {0, 1, {}},
      {1, 1, {{0, 1}}},
      {1, 100, {{0, 1}}},
      {10, 10, {{0, 10}}},
      {10, 4, {{0, 4}, {4, 8}, {8, 10}}},
      {3, 0, {{0, 1}, {1, 2}, {2, 3}}},
      {kMax, kMax, {{0, kMax}}},
      {kMax, kMax - 1, {{0, kMax - 1}, {kMax - 1, kMax}}},
  };
  for (const int threads : {1, 2, 4}) {
    const auto pool = ComputePool::create(threads);
    EXPECT_EQ(pool->threads(), threads);
    for (const Row& row : rows) EXPECT_EQ(slices_of(*pool, row.n, row.grain), row.slices) << row.n << " " << row.grain;
  }
}

TEST(ComputePool, QuotaGivesTheThreads) {
  EXPECT_GE(ComputePool::create(0)->threads(), 1);
}

TEST(ComputePool, OneSliceRunsInPlace) {
  const auto pool = ComputePool::create(4);
  std::thread::id ran;
  ASSERT_TRUE(pool->parallel_for(8, 8, {}, [&](auto, auto) { ran = std::this_thread::get_id(); }).ok());
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(ComputePool, ThreadsShareTheWork) {
  const auto pool = ComputePool::create(3);
  std::atomic<int> inside = 0;
  // Each slice waits until all three are running.
  const Status status = pool->parallel_for(3, 1, {}, [&](auto, auto) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ComputePool, StopsBetweenSlices) {
  for (const int threads : {1, 4}) {
    const auto pool = ComputePool::create(threads);
    std::stop_source source;
    std::atomic<int> ran = 0;
    const Status stopped = pool->parallel_for(1'000'000, 1, {.token = source.get_token()}, [&](auto, auto) {
      if (++ran == 10) source.request_stop();
    });
    EXPECT_EQ(stopped.code(), StatusCode::kCancelled);
    EXPECT_GE(ran, 10);
    EXPECT_LT(ran, 10 + threads);

    const Status late = pool->parallel_for(1'000'000, 1, {.deadline = Clock::now() + 5ms},
                                           [&](auto, auto) { std::this_thread::sleep_for(1ms); });
    EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded);
  }
}

TEST(ComputePool, AFailureBecomesAStatus) {
  const auto pool = ComputePool::create(4);
  const Status status = pool->parallel_for(100, 1, {}, [](std::int64_t begin, std::int64_t) {
    if (begin % 10 == 3) throw BrokenInvariant("no such row");
  });
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(message(status), HasSubstr("no such row"));
  EXPECT_EQ(slices_of(*pool, 4, 2).size(), 2u);
}

TEST(ComputePool, ManyCallersAndNestedCalls) {
  const auto pool = ComputePool::create(3);
  const auto caller = [&] {
    for (int round = 0; round < 50; ++round) {
      std::vector<int> counts(256);
      const Status status = pool->parallel_for(16, 1, {}, [&](std::int64_t row, auto) {
        const Status inner = pool->parallel_for(16, 3, {}, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(row * 16 + i)];
        });
        EXPECT_TRUE(inner.ok());
      });
      EXPECT_TRUE(status.ok());
      EXPECT_THAT(counts, Each(1));
    }
  };
  std::vector<std::jthread> callers;
  for (int i = 0; i < 8; ++i) callers.emplace_back(caller);
}

}  // namespace
}  // namespace uop
