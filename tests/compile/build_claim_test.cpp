// Several processes on one store: one build per key, and a dead builder blocks nobody. The other processes are this
// test program, run again for one test.
#include "core/compile/build_claim.h"

#include <gtest/gtest.h>

#include "core/compile/kernel_library.h"
#include "core/compile/subprocess.h"
#include "core/support/environment.h"
#include "tests/compile/compile_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class OneProcessTest : public KernelLibraryTest {};

/// One process of the tests below: loads a kernel from a shared directory. On its own it has a directory to itself.
TEST_F(OneProcessTest, LoadsOneKernel) {
  EngineOptions o = options(environment("UOP_TEST_COMPILER").value_or("gcc"));
  o.cache_dir = environment("UOP_TEST_STORE").value_or(store_path());
  const auto result = open(o)->load(constant_kernel(11), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(run_constant(*result->kernel), 11);
}

class OtherProcessTest : public KernelLibraryTest {
 protected:
  StatusOr<ProcessResult> run_other(const std::string& compiler, const Cancel& cancel = {}) const {
    return run_process(
        {.program = fs::read_symlink("/proc/self/exe"),
         .arguments = {"--gtest_filter=OneProcessTest.LoadsOneKernel"},
         .environment = {"PATH=" + environment("PATH").value_or(""), "UOP_TEST_STORE=" + store_path(),
                         "UOP_TEST_COMPILER=" + compiler,
                         "TMPDIR=" + directory_.path()},  // what it leaves when killed goes with the test
         .input = {},
         .time_limit = 300s},
        cancel);
  }
};

TEST_F(OtherProcessTest, ManyProcessesOneKeyOneCompile) {
  const std::string compiler = script("slow", "echo run >> $dir/runs; sleep 0.5; exec gcc \"$@\"");
  {
    std::vector<std::jthread> processes;
    for (int i = 0; i < 3; ++i)
      processes.emplace_back([&] {
        const auto result = run_other(compiler);
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(result->exit_code, 0) << result->output;
      });
  }
  EXPECT_EQ(runs(), 1u);
  EXPECT_TRUE(files_below(fs::path(store_path()) / "v1/claims").empty());
  EXPECT_TRUE(files_below(fs::path(store_path()) / "v1/tmp").empty());
}

TEST_F(OtherProcessTest, ADeadBuilderBlocksNobody) {
  const std::string compiler =
      script("blocked", "touch $dir/started; while [ -e $dir/block ]; do sleep 0.05; done; exec gcc \"$@\"");
  std::ofstream(path("block")) << "";
  std::stop_source source;
  std::jthread other([&] {
    EXPECT_EQ(run_other(compiler, {source.get_token(), {}}).status().code(), StatusCode::kCancelled);  // killed
  });
  wait_for_file("started");
  const auto library = open(options(compiler));
  // While it lives, it is waited for.
  const auto waiting = library->load(constant_kernel(11), {{}, Clock::now() + 100ms});
  EXPECT_EQ(waiting.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(library->stats().compiles, 0u);
  source.request_stop();
  other.join();
  fs::remove(path("block"));
  const auto result = library->load(constant_kernel(11), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(library->stats().compiles, 1u);
  const auto again = open(options(compiler));  // whoever opens the store next tidies up after the dead
  expect_tidy();
}

class BuildClaimTest : public KernelLibraryTest {};

TEST_F(BuildClaimTest, WhatWaitsInOneLibraryAnotherMayBuild) {
  // Kernel 1 blocks its compiler.
  const std::string compiler = script("picky",
                                      "text=$(cat); case \"$text\" in *' = 1;'*) touch $dir/started\n"
                                      "while [ -e $dir/block ]; do sleep 0.02; done;; esac\n"
                                      "printf '%s' \"$text\" | gcc \"$@\"");
  std::ofstream(path("block")) << "";
  EngineOptions one_at_a_time = options(compiler);
  one_at_a_time.compile_jobs = 1;
  const auto busy = open(one_at_a_time), idle = open(one_at_a_time);
  std::jthread first([&] { EXPECT_TRUE(busy->load(constant_kernel(1), {}).ok()); });
  wait_for_file("started");
  std::jthread queued([&] { EXPECT_EQ(run_constant(*busy->load(constant_kernel(2), {})->kernel), 2); });
  const auto built = idle->load(constant_kernel(2), {});  // whether the other has asked for its slot by now or not
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->origin, KernelOrigin::kCompiler);
  fs::remove(path("block"));
  queued.join();
  first.join();
  EXPECT_EQ(busy->stats().compiles, 1u);
  EXPECT_EQ(busy->stats().store_hits, 1u);
}

TEST_F(BuildClaimTest, AHolderThatNeverLetsGoIsWaitedForNoLongerThanACompilerMayRun) {
  EngineOptions o = options();
  o.compile_timeout_ms = 1000;
  const auto library = open(o);
  const auto claim = try_claim(store_path(), library->key(constant_kernel(1)));
  ASSERT_TRUE(claim);
  EXPECT_FALSE(try_claim(store_path(), library->key(constant_kernel(1))));
  const auto built = library->load(constant_kernel(1), {});
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->origin, KernelOrigin::kCompiler);
  EXPECT_TRUE(library->store().contains(ArtifactKind::kKernel, library->key(constant_kernel(1))));
}

}  // namespace
}  // namespace uop
