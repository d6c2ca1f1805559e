// The kernel library with a real compiler: where kernels come from, that they are built once, and that what goes wrong
// with a compiler costs one request.
#include "core/compile/kernel_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>

#include "core/compile/toolchain.h"
#include "core/support/environment.h"
#include "tests/compile/compile_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(KernelLibraryTest, CompilerThenMemoryThenStore) {
  std::atomic<int> calls = 0;
  {
    auto library = *KernelLibrary::create(options(), [&](std::chrono::nanoseconds t, bool ok) {
      EXPECT_GT(t.count(), 0);
      EXPECT_TRUE(ok);
      ++calls;
    });
    const auto first = library->load(constant_kernel(7), {});
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(first->origin, KernelOrigin::kCompiler);
    EXPECT_GT(first->compile_time.count(), 0);
    EXPECT_EQ(first->kernel->key(), library->key(constant_kernel(7)));
    EXPECT_EQ(run_constant(*first->kernel), 7);
    const auto second = library->load(constant_kernel(7), {});
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second->origin, KernelOrigin::kMemory);
    EXPECT_EQ(second->kernel, first->kernel);
    const auto stats = library->stats();
    EXPECT_EQ(stats.compiles, 1u);
    EXPECT_EQ(stats.memory_hits, 1u);
    EXPECT_EQ(stats.store_misses, 1u);
    EXPECT_EQ(stats.loaded, 1u);
    EXPECT_GT(stats.store_bytes, 0u);
    EXPECT_GT(stats.compile_seconds, 0);
    expect_tidy();
  }
  const auto library = open(options());
  const auto third = library->load(constant_kernel(7), {});
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->origin, KernelOrigin::kStore);
  EXPECT_EQ(third->compile_time.count(), 0);
  EXPECT_EQ(run_constant(*third->kernel), 7);
  EXPECT_EQ(library->stats().compiles, 0u);
  EXPECT_EQ(library->stats().store_hits, 1u);
  EXPECT_EQ(calls, 1);
}

TEST_F(KernelLibraryTest, TheKeyHoldsAllThatMatters) {
  const auto library = open(options());
  const KernelSource source = constant_kernel(1);
  EXPECT_EQ(library->key(source), library->key(source));
  EXPECT_NE(library->key(source), library->key(constant_kernel(2)));
  EXPECT_NE(library->key(source), library->key({source.text, true}));
  if (library->toolchain().cpu.starts_with("x86-64-")) {
    EngineOptions other = options();
    other.cpu = "x86-64";
    EXPECT_NE(library->key(source), open(other)->key(source));
  }
  EXPECT_NE(library->key(source), open(options(counting_compiler()))->key(source));
  EXPECT_EQ(library->key(source), open(options("/usr/bin/gcc"))->key(source));  // content, not name
}

TEST_F(KernelLibraryTest, WhatIsLinkedIntoKernelsIsPartOfTheIdentity) {
  const std::string compiler = path("with-libgcc");
  std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = -print-file-name=libgcc.a ] && exec echo " << path("libgcc.a")
                          << "\nexec gcc \"$@\"\n";
  fs::permissions(compiler, fs::perms::owner_all);
  const auto identity_with = [&](const std::string& libgcc) {
    std::ofstream(path("libgcc.a")) << libgcc;
    return find_toolchain(options(compiler)).value().info.identity;
  };
  const std::string first = identity_with("as it was");
  EXPECT_NE(first, identity_with("as it is"));
  EXPECT_EQ(first, identity_with("as it was"));

  const Toolchain toolchain = find_toolchain(options(compiler)).value();
  EXPECT_TRUE(toolchain.unchanged());
  std::ofstream(path("libgcc.a")) << "as it will be";
  EXPECT_FALSE(toolchain.unchanged());
}

TEST_F(KernelLibraryTest, TheToolchainIsDescribed) {
  const auto library = open(options());
  const ToolchainInfo& info = library->toolchain();
  EXPECT_TRUE(info.available);
  EXPECT_EQ(info.path.front(), '/');
  EXPECT_THAT(info.version, HasSubstr("gcc"));
  EXPECT_EQ(info.identity.size(), 64u);
  EXPECT_EQ(info.problem, "");
  EXPECT_THAT(info.flags, testing::Not(HasSubstr("native")));
  EXPECT_THAT(info.flags, testing::Not(HasSubstr("fast-math")));
}

TEST_F(KernelLibraryTest, BadOptionsAreRefused) {
  EngineOptions bad = options(path("no-such-compiler"));
  const auto missing = KernelLibrary::create(bad);
  EXPECT_EQ(missing.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(message(missing.status()), HasSubstr("no-such-compiler"));
  std::ofstream(path("text")) << "not executable";
  EXPECT_EQ(KernelLibrary::create(options(path("text"))).status().code(), StatusCode::kInvalidArgument);
  bad = options();
  bad.cpu = "x86-64-v9";
  EXPECT_EQ(KernelLibrary::create(bad).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(KernelLibraryTest, WithoutACompilerTheCacheIsServed) {
  {
    const auto library = open(options());
    ASSERT_TRUE(library->load(constant_kernel(3), {}).ok());
  }
  const std::string old_path = environment("PATH").value_or("");
  ASSERT_EQ(setenv("PATH", "/nonexistent", 1), 0);
  const auto library = open(options(""));
  ASSERT_EQ(setenv("PATH", old_path.c_str(), 1), 0);
  EXPECT_FALSE(library->toolchain().available);
  EXPECT_THAT(library->toolchain().problem, HasSubstr("install gcc"));
  EXPECT_EQ(library->toolchain().identity.size(), 64u);
  const auto hit = library->load(constant_kernel(3), {});
  ASSERT_TRUE(hit.ok()) << hit.status();
  EXPECT_EQ(hit->origin, KernelOrigin::kStore);
  EXPECT_EQ(run_constant(*hit->kernel), 3);
  const auto miss = library->load(constant_kernel(4), {});
  EXPECT_EQ(miss.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(miss.status()), HasSubstr("install gcc"));
}

TEST_F(KernelLibraryTest, ADamagedEntryIsBuiltAgain) {
  fs::path file;
  {
    const auto library = open(options());
    ASSERT_TRUE(library->load(constant_kernel(5), {}).ok());
    const std::string hex = library->key(constant_kernel(5)).hex();
    file = fs::path(store_path()) / "v1" / hex.substr(0, 2) / (hex + ".kernel");
  }
  const auto size = fs::file_size(file);
  for (const auto damage : {size / 2, size - 1, std::uintmax_t{100}}) {
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(damage / 2))
        .put('\x5a');
    fs::resize_file(file, damage);
    const auto library = open(options());
    const auto result = library->load(constant_kernel(5), {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->origin, KernelOrigin::kCompiler);
    EXPECT_EQ(run_constant(*result->kernel), 5);
    EXPECT_EQ(library->stats().store_bad_entries, 1u);
    EXPECT_EQ(fs::file_size(file), size);
  }
}

TEST_F(KernelLibraryTest, ManyThreadsOneKeyOneCompile) {
  const auto library = open(options(counting_compiler()));
  constexpr int kThreads = 16;
  std::barrier start(kThreads);
  std::atomic<int> compiled = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const auto result = library->load(constant_kernel(9), {});
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(run_constant(*result->kernel), 9);
        if (result->origin == KernelOrigin::kCompiler) ++compiled;
      });
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(library->stats().compiles, 1u);
  EXPECT_EQ(library->stats().memory_hits, 15u);
}

TEST_F(KernelLibraryTest, AWaiterWhoseBuilderIsCancelledBuildsForItself) {
  const auto library = open(options(script(
      "first-hangs", "if mkdir $dir/first 2>/dev/null; then touch $dir/started; sleep 1000; fi; exec gcc \"$@\"")));
  std::stop_source source;
  std::jthread builder([&] {
    const auto result = library->load(constant_kernel(1), {source.get_token(), {}});
    EXPECT_EQ(result.status().code(), StatusCode::kCancelled) << result.status();
  });
  wait_for_file("started");
  std::jthread impatient([&] {
    const auto result = library->load(constant_kernel(1), {{}, Clock::now() + 50ms});
    EXPECT_EQ(result.status().code(), StatusCode::kDeadlineExceeded);
  });
  impatient.join();  // left, although the builder still runs
  std::jthread waiter([&] {
    const auto result = library->load(constant_kernel(1), {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->origin, KernelOrigin::kCompiler);
  });
  source.request_stop();
  builder.join();
  waiter.join();
  EXPECT_EQ(library->stats().compiles, 2u);
  expect_tidy();
}

TEST_F(KernelLibraryTest, LoadAllKeepsTheOrderAndTheBound) {
  const auto library = open(options(script("bounded",
                                           "mkdir $dir/run.$$; ls -d $dir/run.* | wc -l >> $dir/level\n"
                                           "gcc \"$@\"; code=$?; rmdir $dir/run.$$; exit $code")));
  ASSERT_TRUE(library->load(constant_kernel(3), {}).ok());
  std::vector<KernelSource> sources;
  for (int i = 0; i < 8; ++i) sources.push_back(constant_kernel(i % 6));
  const auto result = library->load_all(sources, {});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->size(), sources.size());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(run_constant(*(*result)[static_cast<std::size_t>(i)].kernel), i % 6);
  EXPECT_EQ((*result)[3].origin, KernelOrigin::kMemory);
  EXPECT_EQ(library->stats().compiles, 6u);
  std::ifstream levels(path("level"));
  for (int level; levels >> level;) EXPECT_LE(level, 2);
  EXPECT_TRUE(library->load_all({}, {})->empty());
}

TEST_F(KernelLibraryTest, LoadedKernelsAreBoundedAndLiveAsLongAsTheyAreHeld) {
  EngineOptions o = options();
  o.loaded_kernels = 2;
  auto library = open(o);
  const auto held = library->load(constant_kernel(0), {})->kernel;
  for (int i = 1; i < 4; ++i) ASSERT_TRUE(library->load(constant_kernel(i), {}).ok());
  EXPECT_EQ(library->stats().loaded, 3u);  // two of the library's, one of ours
  EXPECT_EQ(library->load(constant_kernel(1), {})->origin, KernelOrigin::kStore);
  EXPECT_EQ(library->load(constant_kernel(3), {})->origin, KernelOrigin::kMemory);
  library.reset();
  EXPECT_EQ(run_constant(*held), 0);
}

// It says that it runs, and runs until it is told to end.
TEST_F(KernelLibraryTest, AKernelThatRunsStaysWhileOthersComeAndGo) {
  EngineOptions o = options();
  o.loaded_kernels = 1;
  const auto library = open(o);
  const KernelSource waits{
      "void UOP_ENTRY(void *const *b, const long *v, long begin, long end) {\n"
      "  volatile int *running = b[0], *stop = b[1];\n"
      "  *running = 1;\n"
      "  while (!*stop) {}\n"
      "  *running = 2;\n"
      "}\n"};
  std::atomic<int> running = 0, stop = 0;
  std::jthread runner([&, kernel = library->load(waits, {})->kernel]() mutable {
    void* buffers[] = {&running, &stop};
    kernel->entry()(buffers, nullptr, 0, 0);
    kernel.reset();
  });
  while (running == 0) std::this_thread::yield();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(run_constant(*library->load(constant_kernel(i), {})->kernel), i);
      EXPECT_EQ(library->stats().loaded, 2u) << "the one that runs, and the last";
    }
  EXPECT_EQ(running, 1);
  stop = 1;
  runner.join();
  EXPECT_EQ(running, 2);
  EXPECT_EQ(library->stats().loaded, 1u);
  EXPECT_EQ(library->stats().compiles, 4u);
}

TEST_F(KernelLibraryTest, WithoutAStoreKernelsAreKeptInMemory) {
  std::ofstream(path("store")) << "a file in the way";
  const auto library = open(options());
  const auto first = library->load(constant_kernel(1), {});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(run_constant(*first->kernel), 1);
  EXPECT_EQ(library->load(constant_kernel(1), {})->origin, KernelOrigin::kMemory);
  EXPECT_GT(library->stats().store_errors, 0u);
  EXPECT_NE(library->store().problem(), "");
}

TEST_F(KernelLibraryTest, AStoreThatVanishesCostsNothingButTheStore) {
  const auto library = open(options());
  ASSERT_TRUE(library->load(constant_kernel(1), {}).ok());
  fs::remove_all(store_path());
  for (int i = 2; i < 5; ++i) {
    const auto result = library->load(constant_kernel(i), {});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(run_constant(*result->kernel), i);
  }
}

}  // namespace
}  // namespace uop
