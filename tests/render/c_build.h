// Compiles C text and loads it, for tests of what the renderer makes, under every compiler and set of flags that a
// kernel may be built with: `all_builds` and `CBuild`.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/temporary_directory.h"

namespace uop {

/// The flags that every kernel is compiled with, whatever the target, and -Werror: both compilers must take the text.
inline const std::string kKernelFlags =
    "-Wall -Wextra -Werror -shared -fPIC -nostdlib -Wl,-z,defs -fno-math-errno -fno-trapping-math ";

/// Compilers with their flags: with and without SSE4.1 and FMA, contracted and not, and one that traps where behaviour
/// is undefined. Builds for what this machine lacks are left out.
inline std::vector<std::string> all_builds() {
  std::vector<std::string> builds = {
      "gcc -O3 -march=x86-64 -fwrapv -ffp-contract=off " + kKernelFlags,
      "gcc -O1 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error " + kKernelFlags,
  };
  const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) {
    builds.push_back("gcc -O3 -march=x86-64-v3 -fwrapv -ffp-contract=fast " + kKernelFlags);
    builds.push_back("gcc -O3 -march=x86-64-v3 -fwrapv -ffp-contract=off " + kKernelFlags);
  }
  if (std::system("clang --version >/dev/null 2>&1") == 0) {
    builds.push_back("clang -O3 -march=x86-64 -fwrapv -ffp-contract=off " + kKernelFlags);
    if (has_fma) builds.push_back("clang -O3 -march=x86-64-v3 -fwrapv -ffp-contract=fast " + kKernelFlags);
  }
  return builds;
}

/// A compiled text, loaded as long as this lives. A text that does not compile is a failed test.
class CBuild {
 public:
  CBuild(const std::string& text, const std::string& compile) {
    std::ofstream(directory_ / "kernel.c") << text;
    const std::string command =
        compile + (directory_ / "kernel.c") + " -o " + (directory_ / "kernel.so") + " 2> " + (directory_ / "log");
    const int status = std::system(command.c_str());
    std::ostringstream log;
    log << std::ifstream(directory_ / "log").rdbuf();
    log_ = log.str();
    EXPECT_EQ(status, 0) << command << '\n' << log_;
    handle_ = dlopen((directory_ / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << command;
  }
  ~CBuild() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  CBuild(const CBuild&) = delete;
  CBuild& operator=(const CBuild&) = delete;

  /// The function of type F called `name`.
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str()));
  }

  /// What the compiler printed.
  const std::string& log() const { return log_; }

 private:
  TemporaryDirectory directory_;
  std::string log_;
  void* handle_ = nullptr;
};

}  // namespace uop
