// The pool's bound, reuse, zeroing and accounting, and that no two owners share memory.
#include "core/exec/buffer_pool.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace uop {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

bool holds_only(const BufferPtr& buffer, int byte) {
  const auto* const begin = static_cast<const unsigned char*>(buffer->data());
  return std::all_of(begin, begin + buffer->bytes(), [byte](unsigned char c) { return c == byte; });
}

TEST(BufferPool, AlignsAndAccounts) {
  struct Row {
    std::uint64_t bytes, in_use, reserved;
  };
  const Row rows[] = {
      {0, 64, 64 << 10},
      {1, 64, 64 << 10},
      {65, 128, 64 << 10},
      {1000, 1024, 64 << 10},
      {1025, 1280, 64 << 10},
      {5000, 5120, 80 << 10},
      {512 << 10, 512 << 10, 2 * kMiB},
      {kMiB + 1, kMiB + kMiB / 4, kMiB + kMiB / 4},
      {2 * kMiB, 2 * kMiB, 2 * kMiB},
      {2 * kMiB + 1, 4 * kMiB, 4 * kMiB},
      {17 * kMiB, 20 * kMiB, 20 * kMiB},
  };
  for (const Row& row : rows) {
    const auto pool = BufferPool::create(64 * kMiB);
    const BufferPtr buffer = pool->allocate(row.bytes).value();
    EXPECT_EQ(buffer->bytes(), row.bytes);
    ASSERT_NE(buffer->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % (row.bytes >= 2 * kMiB ? 2 * kMiB : 64), 0);
    EXPECT_EQ(pool->stats().in_use_bytes, row.in_use) << row.bytes;
    EXPECT_EQ(pool->stats().in_use_bytes + pool->stats().cached_bytes, row.reserved) << row.bytes;
    std::memset(buffer->data(), 1, row.bytes);
  }
}

TEST(BufferPool, CountsWhatWasAskedFor) {
  const auto pool = BufferPool::create(64 * kMiB);
  {
    const BufferPtr a = pool->allocate(1000).value();
    const BufferPtr b = pool->allocate(3 * kMiB + 5).value();
  }
  const BufferPtr c = pool->allocate(70).value();
  EXPECT_EQ(pool->stats().peak_asked_bytes, 1000 + 3 * kMiB + 5);
}

TEST(BufferPool, SmallBuffersShareARegion) {
  const auto pool = BufferPool::create(kMiB);
  std::vector<BufferPtr> buffers;
  for (int i = 0; i < 1024; ++i) buffers.push_back(pool->allocate(64).value());
  EXPECT_EQ(pool->stats().in_use_bytes, 64 << 10);
  EXPECT_EQ(pool->stats().cached_bytes, 0);
  buffers.push_back(pool->allocate(64).value());
  EXPECT_EQ(pool->stats().in_use_bytes + pool->stats().cached_bytes, 128 << 10);
}

TEST(BufferPool, HandsMemoryOutAgain) {
  const auto pool = BufferPool::create(64 * kMiB);
  for (const std::uint64_t bytes : {std::uint64_t{100}, 3 * kMiB}) {
    const void* const first = pool->allocate(bytes).value()->data();
    EXPECT_EQ(pool->allocate(bytes).value()->data(), first);
  }
  EXPECT_EQ(pool->stats().allocations, 4);
  EXPECT_EQ(pool->stats().reuses, 2);
  EXPECT_EQ(pool->stats().in_use_bytes, 0);
  EXPECT_EQ(pool->stats().peak_bytes, 4 * kMiB);
}

TEST(BufferPool, ZeroedMemoryIsZero) {
  const auto pool = BufferPool::create(64 * kMiB);
  for (const std::uint64_t bytes : {std::uint64_t{7}, std::uint64_t{4000}, 3 * kMiB})
    for (int round = 0; round < 3; ++round) {
      const BufferPtr buffer = pool->allocate(bytes, true).value();
      EXPECT_TRUE(holds_only(buffer, 0));
      std::memset(buffer->data(), 0x5A, bytes);
    }
}

TEST(BufferPool, KeepsItsBound) {
  const auto pool = BufferPool::create(10 * kMiB);
  BufferPtr a = pool->allocate(4 * kMiB).value();
  const BufferPtr b = pool->allocate(4 * kMiB).value();
  const Status status = pool->allocate(4 * kMiB).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(status), AllOf(HasSubstr("can't give 4194304 bytes"), HasSubstr("8388608 bytes are in use"),
                                     HasSubstr("10485760 are allowed"), HasSubstr("pool_bytes")));
  EXPECT_EQ(pool->stats().refusals, 1);
  a.reset();
  EXPECT_TRUE(pool->allocate(4 * kMiB).ok());

  EXPECT_TRUE(pool->allocate(64).ok());  // a region for many does not fit any more, but one piece does
  for (const std::uint64_t bytes : {11 * kMiB, std::uint64_t{1} << 62, ~std::uint64_t{0}})
    EXPECT_EQ(pool->allocate(bytes).status().code(), StatusCode::kResourceExhausted) << bytes;
  EXPECT_EQ(BufferPool::create(~std::uint64_t{0})->allocate(~std::uint64_t{0}).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(BufferPool, DropsTheOldestToMakeRoom) {
  const auto pool = BufferPool::create(12 * kMiB);
  BufferPtr old = pool->allocate(2 * kMiB).value();
  BufferPtr young = pool->allocate(4 * kMiB).value();
  old.reset();
  young.reset();
  const BufferPtr other = pool->allocate(8 * kMiB).value();  // 2 + 4 + 8 are too many, 4 + 8 are not
  EXPECT_EQ(pool->stats().cached_bytes, 4 * kMiB);
  EXPECT_EQ(pool->stats().in_use_bytes, 8 * kMiB);
  const BufferPtr again = pool->allocate(4 * kMiB).value();
  EXPECT_EQ(pool->stats().reuses, 1);
}

TEST(BufferPool, TrimGivesBackWhatIsCached) {
  const auto pool = BufferPool::create(64 * kMiB);
  const BufferPtr kept = pool->allocate(64).value();
  std::memset(kept->data(), 3, 64);
  pool->allocate(8 * kMiB).value();
  EXPECT_GE(pool->stats().cached_bytes, 8 * kMiB);
  pool->trim();
  EXPECT_EQ(pool->stats().in_use_bytes + pool->stats().cached_bytes, 64 << 10);
  EXPECT_TRUE(holds_only(kept, 3));
}

TEST(BufferPool, PoisonedMemoryHasNoContentFromBefore) {
  const auto pool = BufferPool::create(64 * kMiB, /*poison=*/true);
  EXPECT_TRUE(pool->poisons());
  for (const std::uint64_t bytes : {std::uint64_t{256}, 3 * kMiB})
    for (int round = 0; round < 2; ++round) {  // what the system maps is zero, which is a value too
      const BufferPtr buffer = pool->allocate(bytes).value();
      EXPECT_TRUE(holds_only(buffer, kPoisonByte));
      std::memset(buffer->data(), 3, bytes);
    }
  EXPECT_TRUE(holds_only(pool->allocate(256, true).value(), 0));
}

#ifndef __SANITIZE_ADDRESS__
TEST(BufferPool, PoisonShowsUseAfterFree) {
  const auto pool = BufferPool::create(kMiB, /*poison=*/true);
  BufferPtr buffer = pool->allocate(256).value();
  const auto* const stale = static_cast<const unsigned char*>(buffer->data());
  std::memset(buffer->data(), 3, 256);
  buffer.reset();
  EXPECT_EQ(stale[0], kPoisonByte);
  EXPECT_EQ(stale[255], kPoisonByte);
}
#else
TEST(BufferPoolDeathTest, ReportsStrayAccess) {
  const auto pool = BufferPool::create(kMiB);
  BufferPtr buffer = pool->allocate(100).value();
  volatile char* const data = static_cast<char*>(buffer->data());
  data[99] = 1;
  EXPECT_DEATH(data[100] = 1, "use-after-poison");
  buffer.reset();
  EXPECT_DEATH(data[0] = 1, "use-after-poison");
}
#endif

// Every thread fills its buffers with its own mark and looks for others' before it frees them.
TEST(BufferPool, OwnersNeverShare) {
  const auto pool = BufferPool::create(24 * kMiB);
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<BufferPtr> held;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t bytes = random() % (std::uint64_t{1} << (random() % 21));
      if (StatusOr<BufferPtr> buffer = pool->allocate(bytes); buffer.ok()) {
        std::memset((*buffer)->data(), static_cast<int>(seed), bytes);
        held.push_back(*std::move(buffer));
      }
      if (held.size() < 8) continue;
      std::swap(held[random() % held.size()], held.back());
      EXPECT_TRUE(holds_only(held.back(), static_cast<int>(seed)));
      held.pop_back();
      const BufferPoolStats stats = pool->stats();
      EXPECT_LE(stats.in_use_bytes + stats.cached_bytes, stats.limit_bytes);
      if (step % 500 == 0) pool->trim();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 1; seed <= 8; ++seed) threads.emplace_back(work, seed);
  }
  EXPECT_EQ(pool->stats().in_use_bytes, 0);
  pool->trim();
  EXPECT_EQ(pool->stats().cached_bytes, 0);
}

}  // namespace
}  // namespace uop
