// A short life of an engine with tiny caches: after a while it holds no more of the system than before.
// scripts/soak-life lives the long one.
#include "tests/life/life.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/life/vitals.h"

namespace uop {
namespace {

// Sanitizers keep what was freed for a while, and map memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Slack kSlack{.resident_kib = 1 << 20, .heap_kib = 512, .mappings = 4000};
#else
// A kernel is two mappings, of which a few may be loaded more than before; arenas of malloc are mapped as threads meet.
constexpr Slack kSlack{.resident_kib = 32 << 10, .heap_kib = 512, .mappings = 40};
#endif

class LifeTest : public testing::Test {
 protected:
  LifeTest() : directory_(std::filesystem::temp_directory_path() / ("uop_life_" + std::to_string(getpid()))) {}
  ~LifeTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

TEST_F(LifeTest, HundredsOfGraphsReachAPlateau) {
  constexpr std::int64_t kWarmUp = 200, kGraphs = 600;
  const LifeSettings settings{.cache_dir = directory_, .graphs = kGraphs, .fresh_every = 40};
  const StatusOr<std::unique_ptr<Life>> life = Life::begin(settings);
  ASSERT_TRUE(life.ok()) << life.status();

  ASSERT_EQ((*life)->live(0, kWarmUp), ok_status());
  const Vitals before = vitals();
  ASSERT_EQ((*life)->live(kWarmUp, kGraphs), ok_status());
  const Vitals after = vitals();
  EXPECT_EQ(growth(before, after, kSlack), "") << to_text(before) << "\n" << to_text(after);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a compiler was left behind";

  const EngineStats stats = (*life)->stats();
  EXPECT_EQ(stats.plan_misses, static_cast<std::uint64_t>(kGraphs)) << "the structures were to be distinct";
  EXPECT_LE(stats.plan_bytes, static_cast<std::uint64_t>(settings.plan_cache_bytes));
  EXPECT_GT(stats.plan_evictions, static_cast<std::uint64_t>(kGraphs / 2));
  EXPECT_LE(stats.kernels.loaded, static_cast<std::uint64_t>(settings.loaded_kernels));
  EXPECT_GT(stats.kernels.store_hits, static_cast<std::uint64_t>(kGraphs / 2)) << "kernels were to come and go";
  EXPECT_EQ(stats.kernels.store_errors, 0u);
  EXPECT_EQ(stats.pool.in_use_bytes, 0u);
}

TEST_F(LifeTest, TheEndOfAnEngineLeavesNothing) {
  const LifeSettings settings{.cache_dir = directory_, .graphs = 12, .fresh_every = 4};
  const auto once = [&] {
    const StatusOr<std::unique_ptr<Life>> life = Life::begin(settings);
    return life.ok() ? (*life)->live(0, settings.graphs) : life.status();
  };
  ASSERT_EQ(once(), ok_status());  // what the process keeps for good is made now
  const Vitals before = vitals();
  for (int i = 0; i < 3; i++) ASSERT_EQ(once(), ok_status());
  const Vitals after = vitals();
  EXPECT_EQ(growth(before, after, kSlack), "") << to_text(before) << "\n" << to_text(after);
}

// The measure itself: what it must show, it shows.
TEST(Vitals, SeesWhatIsHeld) {
  const Slack none{.resident_kib = 1 << 20, .heap_kib = 100, .mappings = 3};
  const Vitals before = vitals();
  EXPECT_EQ(growth(before, vitals(), none), "");

  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_NE(growth(before, vitals(), none).find("descriptors"), std::string::npos);
  ::close(descriptor);

  std::vector<void*> mapped;
  for (int i = 0; i < 8; i++)  // of unlike protection, or the system joins them
    mapped.push_back(::mmap(nullptr, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_NE(growth(before, vitals(), none).find("mappings"), std::string::npos);
  for (void* const m : mapped) ::munmap(m, 4096);

  {
    std::jthread waiting([](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
    });
    EXPECT_NE(growth(before, vitals(), none).find("threads"), std::string::npos);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::vector<std::string> strings(1000, std::string(1000, 'x'));
  EXPECT_NE(growth(before, vitals(), none).find("heap"), std::string::npos);
#endif
}

TEST(Vitals, SeesAChildThatNobodyReaped) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // dead, and still there
  EXPECT_EQ(vitals().children, 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(vitals().children, 0);
}

}  // namespace
}  // namespace uop
