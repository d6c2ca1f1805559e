// The bound of the directory under load: several processes write more than fits, others' kernels in use stay mapped and
// right, and what is used from memory is not what goes.
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>

#include "tests/store/store_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCap = 1 << 20;
constexpr std::uint64_t kKernel = 96 << 10;  // of a file; twelve make the directory full

class SizeCapTest : public CacheDirectoryTest {
 protected:
  std::uint64_t bytes_now() const {
    std::uint64_t bytes = 0;
    for (const CacheEntry& entry : cache_content(look_only()).entries) bytes += entry.bytes;
    return bytes;
  }
  /// Options whose bound never evicts.
  EngineOptions look_only() const {
    EngineOptions o = options();
    o.cache_bytes = std::int64_t{1} << 40;
    return o;
  }
  std::string fat_compiler() const {
    return compiler("fat", "gcc \"$@\" -O0 && truncate -s " + std::to_string(kKernel) + " $out; exit");
  }
};

TEST_F(SizeCapTest, HoldsUnderLoadAndKernelsInUseStay) {
  constexpr int kProcesses = 3, kGraphs = 20, kInUse = 4;
  const std::string fat = fat_compiler();
  EngineOptions capped = options(fat);
  capped.cache_bytes = kCap;
  const auto device = open(capped);
  for (int n = 0; n < kInUse; ++n) EXPECT_TRUE(*run_numbered(*device, n));
  std::vector<pid_t> processes;
  for (int p = 0; p < kProcesses; ++p)
    processes.push_back(testing::start_program(
        "store_process",
        on_cache(100 + kGraphs * p, kGraphs, {"compiler=" + fat, "cache_bytes=" + std::to_string(kCap)}),
        path("out" + std::to_string(p)), path("err" + std::to_string(p)), {}));
  std::atomic<bool> done = false;
  std::uint64_t most = 0;
  int runs = 0;
  std::thread sampler([&] {
    while (!done) most = std::max(most, bytes_now());
  });
  std::thread user([&] {
    while (!done)
      for (int n = 0; n < kInUse; ++n, ++runs) EXPECT_TRUE(*run_numbered(*device, n));
  });
  double evictions = 0, compiles = 0;
  for (int p = 0; p < kProcesses; ++p) {
    EXPECT_EQ(testing::exit_code_of(processes[static_cast<std::size_t>(p)]), 0);
    const auto report = nlohmann::json::parse(testing::content_of(path("out" + std::to_string(p))));
    EXPECT_EQ(report["right"], kGraphs);
    evictions += report["store_evictions"].get<double>();
    compiles += report["kernel_compiles"].get<double>();
  }
  done = true;
  sampler.join();
  user.join();
  EXPECT_EQ(compiles, kProcesses * kGraphs);
  EXPECT_GE(evictions, 40);  // 64 kernels, of which twelve fit
  // Each process may have written one file before it looks, and a look takes a while, during which files come and go.
  EXPECT_LE(most, kCap + 2 * (kProcesses + 1) * kKernel);
  EXPECT_LE(bytes_now(), kCap);
  EXPECT_GE(runs, kInUse);
  EXPECT_EQ(status_number(*device, "kernel_compiles"), kInUse);  // those in use were never made again
}

TEST_F(SizeCapTest, WhatRunsFromMemoryIsNotTheFirstToGo) {
  const std::string fat = fat_compiler();
  EngineOptions capped = options(fat);
  capped.cache_bytes = kCap;
  const auto device = open(capped);
  // Five graphs, more than one eviction takes, that look as if they had not been used for long; the first is the
  // oldest.
  for (int n = 4; n >= 0; --n) {
    value_or_throw(device->compile(numbered_graph(n), {}));
    for (const std::string kind : {"kernel", "plan"})
      for (const fs::path& file : entries(kind)) {
        const timespec times[] = {{1000 + n, 0}, {1000 + n, 0}};
        struct stat info {};
        ASSERT_EQ(stat(file.c_str(), &info), 0);
        if (info.st_mtim.tv_sec < 2000) continue;  // an earlier one
        ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
      }
  }
  EXPECT_TRUE(*run_numbered(*device, 0));  // from memory
  EXPECT_EQ(status_number(*device, "kernel_store_hits"), 0);
  for (int n = 100; n < 120 && status_number(*device, "store_evictions") == 0; ++n)
    EXPECT_TRUE(*run_numbered(*device, n));
  EXPECT_GE(status_number(*device, "store_evictions"), 1);
  const auto next = open(capped);
  EXPECT_TRUE(*run_numbered(*next, 0));
  EXPECT_EQ(status_number(*next, "kernel_store_hits"), 1);
  EXPECT_EQ(status_number(*next, "plan_store_hits"), 1);
}

}  // namespace
}  // namespace uop
