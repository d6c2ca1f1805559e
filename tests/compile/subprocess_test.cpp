// Child processes: how they end, what they print, and that nothing of them is left.
#include "core/compile/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "tests/compile/compile_fixture.h"

namespace uop {
namespace {

using namespace std::chrono_literals;

class SubprocessTest : public CompileTest {
 protected:
  void SetUp() override {
    CompileTest::SetUp();
    // Orphans of a child become ours, as for process 1 of a container: so the test sees whether they are reaped.
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    descriptors_ = open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was left behind";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(open_descriptors(), descriptors_);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    CompileTest::TearDown();
  }

  ProcessRequest sh(const std::string& text) const {
    return {.program = "/bin/sh",
            .arguments = {"-c", text},
            .environment = {"PATH=/usr/bin:/bin", "DIR=" + directory_.path()},
            .input = {},
            .time_limit = 60s};
  }

  std::size_t descriptors_ = 0;
};

TEST_F(SubprocessTest, Ends) {
  struct Row {
    const char* text;
    int exit_code, signal;
    const char* output;
  };
  for (const Row& row : std::vector<Row>{{"exit 0", 0, 0, ""},
                                         {"echo out; echo err >&2; exit 3", 3, 0, "out\nerr\n"},
                                         {"cat", 0, 0, "the input"},
                                         {"kill -SEGV $$", -1, SIGSEGV, ""},
                                         {"kill -KILL $$", -1, SIGKILL, ""},
                                         {"ls /proc/self/fd", 0, 0, "0\n1\n2\n3\n"},  // 3: the listing itself
                                         {"exec 1>&- 2>&-; exit 4", 4, 0, ""}}) {
    SCOPED_TRACE(row.text);
    ProcessRequest request = sh(row.text);
    request.input = "the input";
    const auto result = run_process(request, {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->exit_code, row.exit_code);
    EXPECT_EQ(result->signal, row.signal);
    EXPECT_EQ(result->output, row.output);
    EXPECT_FALSE(result->flooded);
  }
}

TEST_F(SubprocessTest, EnvironmentIsWhatIsGiven) {
  const auto result = run_process(
      {.program = "/usr/bin/env", .arguments = {}, .environment = {"A=1", "B=x y"}, .input = {}, .time_limit = 60s},
      {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "A=1\nB=x y\n");
}

TEST_F(SubprocessTest, SignalsAreDefaultInTheChild) {
  const auto old_handler = signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, old_mask;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &old_mask);
  const auto result = run_process(sh("grep -E 'SigBlk|SigIgn' /proc/self/status"), {});
  pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  signal(SIGPIPE, old_handler);
  ASSERT_TRUE(result.ok());
  std::istringstream lines(result->output);
  std::string name;
  unsigned long mask = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(lines >> name >> std::hex >> mask) << result->output;
    EXPECT_EQ(mask & 0x7fffffff, 0u) << result->output;  // the C library ignores two of its own above these
  }
}

TEST_F(SubprocessTest, LargeInputArrivesWhole) {
  const std::string input(8 << 20, 'x');
  ProcessRequest request = sh("wc -c");
  request.input = input;
  const auto result = run_process(request, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(std::stoul(result->output), input.size());
}

TEST_F(SubprocessTest, OutputIsBounded) {
  const auto much = run_process(sh("head -c 1000000 /dev/zero; exit 5"), {});
  ASSERT_TRUE(much.ok());
  EXPECT_EQ(much->output.size(), kKeptOutput);
  EXPECT_EQ(much->exit_code, 5);

  const auto flood = run_process(sh("cat /dev/zero"), {});
  ASSERT_TRUE(flood.ok());
  EXPECT_TRUE(flood->flooded);
  EXPECT_EQ(flood->output.size(), kKeptOutput);
}

TEST_F(SubprocessTest, TheTimeLimitKillsTheGroup) {
  ProcessRequest request = sh("sleep 1000 & echo $! > $DIR/pid; wait");
  request.time_limit = 500ms;
  const auto result = run_process(request, {});
  EXPECT_EQ(result.status().code(), StatusCode::kResourceExhausted) << result.status();
  pid_t grandchild = 0;
  std::ifstream(path("pid")) >> grandchild;
  ASSERT_GT(grandchild, 0);
  EXPECT_EQ(kill(grandchild, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(SubprocessTest, AGrandchildDoesNotOutliveItsParent) {
  const auto result = run_process(sh("sleep 1000 & echo $! > $DIR/pid; exit 0"), {});
  ASSERT_TRUE(result.ok());
  pid_t grandchild = 0;
  std::ifstream(path("pid")) >> grandchild;
  EXPECT_EQ(kill(grandchild, 0), -1);
}

TEST_F(SubprocessTest, AnEscapedGrandchildThatHoldsThePipeDoesNotHoldTheCaller) {
  const auto result = run_process(sh("setsid sh -c 'echo $$ > $DIR/new; mv $DIR/new $DIR/pid; sleep 1000' &\n"
                                     "while [ ! -e $DIR/pid ]; do sleep 0.01; done; echo done"),
                                  {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "done\n");
  pid_t escaped = 0;
  std::ifstream(path("pid")) >> escaped;
  ASSERT_GT(escaped, 0);
  kill(-escaped, SIGKILL);  // its session's group
  while (waitpid(-1, nullptr, 0) > 0) {
  }
}

TEST_F(SubprocessTest, CancellationAndDeadlines) {
  std::stop_source source;
  std::jthread stopper([&] {
    wait_for_file("started");
    source.request_stop();
  });
  const auto cancelled = run_process(sh("touch $DIR/started; sleep 1000"), {source.get_token(), {}});
  EXPECT_EQ(cancelled.status().code(), StatusCode::kCancelled);

  const auto before = run_process(sh("touch $DIR/never"), {source.get_token(), {}});
  EXPECT_EQ(before.status().code(), StatusCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(path("never")));

  const auto late = run_process(sh("sleep 1000"), {{}, Clock::now() + 200ms});
  EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SubprocessTest, WhatCannotBeExecuted) {
  std::ofstream(path("text")) << "no program";
  for (const std::string& program : {path("missing"), path("text"), directory_.path()}) {
    const auto result =
        run_process({.program = program, .arguments = {}, .environment = {}, .input = {}, .time_limit = 60s}, {});
    EXPECT_EQ(result.status().code(), StatusCode::kFailedPrecondition) << result.status();
    EXPECT_NE(message(result.status()).find(program), std::string::npos);
  }
}

}  // namespace
}  // namespace uop
