// Machines that differ share a directory: what was compiled for a richer CPU is a miss for a poorer one, never an
// illegal instruction. The poorer one is an emulator; the compilers that it starts run on the real CPU.
#include "core/compile/cpu_level.h"
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)  // whose shadow memory the emulator has no room for

constexpr int kGraphs = 3;

class OtherCpuTest : public CacheDirectoryTest {
 protected:
  /// The report of a process that runs the graphs on this CPU, or on one of `model`.
  nlohmann::json run(const std::string& model = "", const std::vector<std::string>& more = {}) const {
    const std::string program = std::string(UOP_BINARY_DIR) + "/store_process";
    std::vector<std::string> arguments = on_cache(0, kGraphs, more);
    if (!model.empty()) arguments.insert(arguments.begin(), {"-cpu", model, program});
    const testing::Finished finished =
        testing::run_program(model.empty() ? program : "/usr/bin/qemu-x86_64", arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    return finished.exit_code == 0 ? finished.json() : nlohmann::json();
  }
};

TEST_F(OtherCpuTest, APoorerCpuMissesBuildsAndShares) {
  ASSERT_TRUE(std::filesystem::exists("/usr/bin/qemu-x86_64")) << "install qemu-user: run scripts/setup";
  const nlohmann::json rich = run();
  EXPECT_EQ(rich["kernel_compiles"], kGraphs);
  const std::size_t kernels = entries("kernel").size();

  const nlohmann::json poor = run("Nehalem");
  EXPECT_EQ(poor["cpu"], "x86-64-v2");
  if (rich["cpu"] == "x86-64-v2" || rich["cpu"] == "x86-64") return;  // no poorer CPU to be had
  EXPECT_EQ(poor["right"], kGraphs);
  EXPECT_EQ(poor["kernel_store_hits"], 0);
  EXPECT_EQ(poor["kernel_compiles"], kGraphs);
  EXPECT_EQ(poor["plan_store_hits"], kGraphs);  // plans do not depend on the CPU
  EXPECT_EQ(poor["store_bad_entries"], 0);
  EXPECT_EQ(entries("kernel").size(), 2 * kernels);

  for (const std::string model : {"", "Nehalem"}) {
    const nlohmann::json again = run(model);
    EXPECT_EQ(again["kernel_compiles"], 0) << model;
    EXPECT_EQ(again["kernel_store_hits"], kGraphs) << model;
  }
}

/// What is compiled for a richer CPU ends on the poorer one. Without this the test above would show nothing.
TEST_F(OtherCpuTest, TheEmulatorRefusesWhatItLacks) {
  if (machine_cpu_level() == "x86-64-v2" || machine_cpu_level() == "x86-64") return;
  std::ofstream(path("kernel.c")) << "float f(float *a) { return __builtin_ia32_vfmaddss3((__attribute__((vector_size("
                                     "16))) float){a[0]}, (__attribute__((vector_size(16))) float){a[1]}, "
                                     "(__attribute__((vector_size(16))) float){a[2]})[0]; }\n"
                                     "int main(int n, char **v) { float a[3] = {n, n, n}; return f(a) != 2; }\n";
  ASSERT_EQ(std::system(("gcc -march=x86-64-v3 -o " + path("kernel") + " " + path("kernel.c")).c_str()), 0);
  EXPECT_EQ(testing::run_program(path("kernel"), {}).exit_code, 0);
  EXPECT_EQ(testing::run_program("/usr/bin/qemu-x86_64", {"-cpu", "Nehalem", path("kernel")}).exit_code, 128 + SIGILL);
}

#endif

}  // namespace
}  // namespace uop
