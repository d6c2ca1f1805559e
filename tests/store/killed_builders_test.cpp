// Processes that are killed while they compile, compilers and all: whoever starts next works, waits for no lock of the
// dead, and leaves nothing of theirs.
#include <sys/prctl.h>

#include <random>

#include "tests/store/own_mounts.h"
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

constexpr int kKills = 50;
constexpr int kGraphs = 2;  // of each process that is killed

class KilledBuildersTest : public CacheDirectoryTest {
 protected:
  static std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string()[0])) == 0) continue;
      // "pid (name) state parent …"; no program of these has a parenthesis in its name
      const std::string stat = testing::content_of(entry.path().string() + "/stat");
      const std::size_t at = stat.find(") ");
      if (at == std::string::npos || at + 4 > stat.size()) continue;
      if (std::atoi(stat.c_str() + at + 4) == getpid()) found.push_back(std::atoi(stat.c_str()));
    }
    return found;
  }

  /// Kills all that this test has started, and what that has started: orphans become children of this process.
  static void kill_all_children() {
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    do {
      for (const pid_t pid : children()) kill(pid, SIGKILL);
    } while (waitpid(-1, nullptr, 0) > 0);
  }

  static std::vector<std::string> left_in(const std::string& folder) {
    std::vector<std::string> found;
    for (const auto& file : fs::directory_iterator(folder)) found.push_back(file.path());
    return found;
  }
};

TEST_F(KilledBuildersTest, FiftyKillsLeaveNoLockAndNoRubbish) {
  ASSERT_TRUE(own_mounts());
  ASSERT_TRUE(mount_memory("/dev/shm", "64m"));  // so that what lies there is this test's
  fs::create_directory(path("tmp"));
  const std::vector<std::string> environment = {"TMPDIR=" + path("tmp")};
  std::ofstream(path("a file")) << "in place of a cache directory";
  std::minstd_rand random(1);
  // It sleeps a little before and after its work, so that a kill finds it everywhere.
  const std::string slow = compiler("slow",
                                    "[ -e $dir/pause ] || exec gcc \"$@\"\n"
                                    "echo run >> $dir/runs; sleep $(cat $dir/pause); gcc \"$@\"; sleep 0.03; exit");
  int compiling = 0, outside = 0;
  for (int round = 0; round < kKills; ++round) {
    SCOPED_TRACE(round);
    fs::remove(path("runs"));
    std::ofstream(path("pause")) << "0.0" << random() % 4;
    // Some rounds have no usable cache directory, so that the compiler's files lie elsewhere.
    const bool no_store = round % 5 == 4;
    std::vector<std::string> arguments = on_cache(kGraphs * round, kGraphs, {"compiler=" + slow, "compile_jobs=2"});
    if (no_store) arguments[3] = "cache_dir=" + path("a file");
    testing::start_program("store_process", arguments, path("out"), path("err"), environment);
    ASSERT_TRUE(wait_until([&] { return runs() > static_cast<int>(random() % kGraphs); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    kill_all_children();
    if (!rubbish().empty()) ++compiling;
    if (!left_in("/dev/shm").empty()) ++outside;

    // The next to start builds the very graphs that were under way.
    fs::remove(path("pause"));
    arguments[3] = "cache_dir=" + cache();
    const pid_t next = testing::start_program("store_process", arguments, path("out"), path("err"), environment);
    ASSERT_EQ(testing::exit_code_of(next), 0) << testing::content_of(path("out")) << testing::content_of(path("err"));
    EXPECT_EQ(nlohmann::json::parse(testing::content_of(path("out")))["store_bad_entries"], 0);
    EXPECT_THAT(rubbish(), ::testing::IsEmpty());
    EXPECT_THAT(left_in("/dev/shm"), ::testing::IsEmpty());
    EXPECT_THAT(left_in(path("tmp")), ::testing::IsEmpty());
    EXPECT_EQ(entries("kernel").size(), static_cast<std::size_t>(kGraphs * (round + 1)));
  }
  // The kills met what they were meant for.
  EXPECT_GE(compiling, kKills / 2);
  EXPECT_GE(outside, kKills / 10);
}

}  // namespace
}  // namespace uop
