// What the tests of core/compile share: a temporary directory, small kernels, and shell scripts that stand in for a
// compiler and misbehave.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/compile/artifact_store.h"
#include "core/compile/kernel_library.h"
#include "tests/temporary_directory.h"

namespace uop {

class CompileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string store_path() const { return path("store"); }

  /// A compiler that answers --version and -print-… as gcc does, and else runs `body` with the arguments.
  std::string script(const std::string& name, const std::string& body) const {
    std::ofstream(path(name)) << "#!/bin/sh\ncase \"$1\" in --version|-print*) exec gcc \"$@\";; esac\n"
                              << "dir=" << directory_.path() << "\n"
                              << "for a; do [ \"$last\" = -o ] && out=$a; last=$a; done\n"
                              << body << "\n";
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
    return path(name);
  }
  /// One that notes each run in the file "runs", and otherwise is gcc.
  std::string counting_compiler() const { return script("counting", "echo run >> $dir/runs\nexec gcc \"$@\""); }
  std::size_t runs() const {
    std::ifstream file(path("runs"));
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
  }
  void wait_for_file(const std::string& name) const {
    while (!std::filesystem::exists(path(name))) std::this_thread::yield();
  }

  EngineOptions options(const std::string& compiler = "gcc") const {
    EngineOptions o;
    o.cache_dir = store_path();
    o.compiler = compiler;
    o.compile_jobs = 2;
    return o;
  }
  static std::unique_ptr<KernelLibrary> open(const EngineOptions& o) {
    auto library = KernelLibrary::create(o);
    EXPECT_TRUE(library.ok()) << library.status();
    return std::move(*library);
  }

  TemporaryDirectory directory_;
};

/// Stores `value` in buffers[0][0].
inline KernelSource constant_kernel(int value) {
  return {"void UOP_ENTRY(void *const *b, const long *v, long begin, long end) { *(int *)b[0] = " +
          std::to_string(value) + "; }\n"};
}

inline int run_constant(const LoadedKernel& kernel) {
  int out = -1;
  void* buffers[] = {&out};
  kernel.entry()(buffers, nullptr, 0, 0);
  return out;
}

/// Everything below `directory` that is a file or a directory, for "nothing is left behind".
inline std::vector<std::string> files_below(const std::filesystem::path& directory) {
  std::vector<std::string> found;
  if (!std::filesystem::exists(directory)) return found;
  for (const auto& e : std::filesystem::recursive_directory_iterator(directory)) found.push_back(e.path());
  std::sort(found.begin(), found.end());
  return found;
}

constexpr bool machine_is_x86() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

class KernelLibraryTest : public CompileTest {
 protected:
  void TearDown() override { EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was left behind"; }
  /// Nothing but entries, records and this process's own empty scratch directory.
  void expect_tidy() const {
    EXPECT_TRUE(files_below(std::filesystem::path(store_path()) / "v1/claims").empty());
    for (const auto& e : std::filesystem::directory_iterator(std::filesystem::path(store_path()) / "v1/tmp"))
      EXPECT_TRUE(std::filesystem::is_empty(e)) << e;
  }
};

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace uop
