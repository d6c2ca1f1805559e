// What else makes a kernel or a plan another one: the compiler and its libraries, the flags, the version of the
// product. Each misses what the others stored, and each finds its own again.
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

class OtherToolchainTest : public CacheDirectoryTest {
 protected:
  struct Counts {
    double compiles, plan_misses;
    bool operator==(const Counts&) const = default;
  };

  static Counts look(const EngineOptions& o, const CompileOptions& compile = {}) {
    const auto device = open(o);
    const StatusOr<bool> right = run_numbered(*device, 0, {.compile = compile});
    EXPECT_TRUE(right.ok() && *right) << right.status();
    return {status_number(*device, "kernel_compiles"), status_number(*device, "plan_misses")};
  }
};

TEST_F(OtherToolchainTest, AnotherCompilerMisses) {
  std::vector<EngineOptions> all = {options("gcc"), options("clang-14"), options(compiler("one", "")),
                                    options(compiler("two", ""))};
  for (const EngineOptions& o : all) EXPECT_EQ(look(o).compiles, 1) << o.compiler;
  for (const EngineOptions& o : all) EXPECT_EQ(look(o), (Counts{0, 0})) << o.compiler;
  EXPECT_EQ(entries("kernel").size(), all.size());
  EXPECT_EQ(entries("plan").size(), 1u);  // the text of a kernel is the same for all compilers
}

/// The code of clang lies in libraries. A program with a library stands for it: the program stays, the library changes.
TEST_F(OtherToolchainTest, AnotherLibraryOfTheSameCompilerMisses) {
  const auto shell = [](const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; };
  std::ofstream(path("driver.c")) << "#include <string.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                                     "int version(void);\n"
                                     "int main(int n, char **v) {\n"
                                     "  if (n == 2 && !strcmp(v[1], \"--version\")) return puts(\"fixed\") < 0;\n"
                                     "  if (n == 2 || version() == 0) return 1;\n"
                                     "  v[0] = \"gcc\";\n  return execvp(\"gcc\", v);\n}\n";
  const auto make_library = [&](int version) {
    std::ofstream(path("version.c")) << "int version(void) { return " << version << "; }\n";
    shell("gcc -shared -fPIC -Wl,--build-id -o " + path("new.so") + " " + path("version.c"));
    fs::rename(path("new.so"), path("libversion.so"));
  };
  make_library(1);
  shell("gcc -o " + path("driver") + " " + path("driver.c") + " " + path("libversion.so"));
  EXPECT_EQ(look(options(path("driver"))).compiles, 1);
  EXPECT_EQ(look(options(path("driver"))).compiles, 0);
  make_library(2);
  EXPECT_EQ(look(options(path("driver"))).compiles, 1);
  EXPECT_EQ(look(options(path("driver"))).compiles, 0);
  make_library(1);  // content, not time: the first kernel is found again
  EXPECT_EQ(look(options(path("driver"))).compiles, 0);
}

TEST_F(OtherToolchainTest, OtherFlagsMiss) {
  EngineOptions baseline = options();
  CompileOptions strict;
  strict.numerics = "strict";
  EXPECT_EQ(look(options()), (Counts{1, 1}));
  EXPECT_EQ(look(options(), strict), (Counts{1, 1}));
#if defined(__x86_64__)
  baseline.cpu = "x86-64";
  EXPECT_EQ(look(baseline), (Counts{1, 0}));
  EXPECT_EQ(look(baseline), (Counts{0, 0}));
#endif
  EXPECT_EQ(look(options()), (Counts{0, 0}));
  EXPECT_EQ(look(options(), strict), (Counts{0, 0}));
}

/// A plan belongs to its version of the product. A kernel does not: the same text, compiler and flags are the same
/// kernel, and one whose text a version renders otherwise has another key.
TEST_F(OtherToolchainTest, AnotherVersionOfTheProductMakesItsOwnPlans) {
  const auto run = [&](const std::string& program) {
    const testing::Finished finished = testing::run_program(program, on_cache(0, 2));
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json();
  };
  EXPECT_EQ(run("store_process")["plan_misses"], 2);
  const auto next = run("store_process_of_next_version");
  EXPECT_EQ(next["plan_misses"], 2);
  EXPECT_EQ(next["plan_store_hits"], 0);
  EXPECT_EQ(next["kernel_store_hits"], 2);
  EXPECT_EQ(entries("plan").size(), 4u);
  for (const std::string program : {"store_process", "store_process_of_next_version"})
    EXPECT_EQ(run(program)["plan_store_hits"], 2) << program;
}

}  // namespace
}  // namespace uop
