// What the tests of loading share: text compiled to a shared object, and loaded.
#pragma once

#include "core/compile/c_compiler.h"
#include "core/compile/loaded_kernel.h"
#include "tests/compile/compile_fixture.h"

namespace uop {

class LoadedKernelTest : public CompileTest {
 protected:
  std::string compile(const KernelSource& source, const Digest& key, const std::string& cpu = "native",
                      const std::string& compiler = "gcc") {
    EngineOptions o = options(compiler);
    o.cpu = cpu;
    const auto toolchain = find_toolchain(o);
    EXPECT_TRUE(toolchain.ok()) << toolchain.status();
    const auto before = files_below(directory_.path());
    const auto bytes = compile_c(*toolchain,
                                 {.text = source.text,
                                  .symbol = kernel_symbol(key),
                                  .strict = source.strict,
                                  .scratch = directory_.path(),
                                  .time_limit = std::chrono::seconds(60)},
                                 {});
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(files_below(directory_.path()), before);
    return bytes.ok() ? *bytes : "";
  }
  LoadedKernelPtr load(const KernelSource& source, const std::string& cpu = "native") {
    const Digest key = sha256(source.text + cpu + (source.strict ? "s" : ""));
    const auto kernel = load_kernel(compile(source, key, cpu), key, live_);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return *kernel;
  }

  LiveCount live_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace uop
