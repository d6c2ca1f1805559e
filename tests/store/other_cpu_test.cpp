// Machines that differ share a directory: what was compiled for a richer CPU is a miss for a poorer one, never an
// illegal instruction. The poorer one is an emulator, and so is the richer one where the tests themselves run on a poor
// CPU; the compilers that they start run on the real one.
#include "core/compile/cpu_level.h"
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)  // whose shadow memory the emulator has no room for

constexpr int kGraphs = 3;
constexpr char kEmulator[] = "/usr/bin/qemu-x86_64";
constexpr char kPoor[] = "Nehalem";

bool is_poor(const std::string& level) {
  return level == "x86-64" || level == "x86-64-v2";
}

/// The model of CPU that has more than the poor one: "", this machine's own, or an emulated one.
std::string rich_model() {
  return is_poor(machine_cpu_level()) ? "max" : "";
}

/// Runs a program on this CPU, or on one of `model`.
testing::Finished run_on(const std::string& model, const std::string& program, std::vector<std::string> arguments) {
  if (model.empty()) return testing::run_program(program, arguments);
  arguments.insert(arguments.begin(), {"-cpu", model, program});
  return testing::run_program(kEmulator, arguments);
}

class OtherCpuTest : public CacheDirectoryTest {
 protected:
  void SetUp() override { ASSERT_TRUE(std::filesystem::exists(kEmulator)) << "install qemu-user: run scripts/setup"; }

  /// The report of a process that runs the graphs on this CPU, or on one of `model`.
  nlohmann::json run(const std::string& model) const {
    const testing::Finished finished =
        run_on(model, std::string(UOP_BINARY_DIR) + "/store_process", on_cache(0, kGraphs, {}));
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    return finished.exit_code == 0 ? finished.json() : nlohmann::json();
  }
};

TEST_F(OtherCpuTest, APoorerCpuMissesBuildsAndShares) {
  const nlohmann::json rich = run(rich_model());
  ASSERT_FALSE(rich.is_null());
  ASSERT_FALSE(is_poor(rich["cpu"])) << "this machine has a poor CPU, and its emulator has no richer one to offer";
  EXPECT_EQ(rich["kernel_compiles"], kGraphs);
  const std::size_t kernels = entries("kernel").size();

  const nlohmann::json poor = run(kPoor);
  EXPECT_EQ(poor["cpu"], "x86-64-v2");
  EXPECT_EQ(poor["right"], kGraphs);
  EXPECT_EQ(poor["kernel_store_hits"], 0);
  EXPECT_EQ(poor["kernel_compiles"], kGraphs);
  EXPECT_EQ(poor["plan_store_hits"], kGraphs);  // plans do not depend on the CPU
  EXPECT_EQ(poor["store_bad_entries"], 0);
  EXPECT_EQ(entries("kernel").size(), 2 * kernels);

  for (const std::string& model : {rich_model(), std::string(kPoor)}) {
    const nlohmann::json again = run(model);
    EXPECT_EQ(again["kernel_compiles"], 0) << model;
    EXPECT_EQ(again["kernel_store_hits"], kGraphs) << model;
  }
}

/// What is compiled for a richer CPU ends on the poorer one. Without this the test above would show nothing.
TEST_F(OtherCpuTest, TheEmulatorRefusesWhatItLacks) {
  std::ofstream(path("kernel.c")) << "float f(float *a) { return __builtin_ia32_vfmaddss3((__attribute__((vector_size("
                                     "16))) float){a[0]}, (__attribute__((vector_size(16))) float){a[1]}, "
                                     "(__attribute__((vector_size(16))) float){a[2]})[0]; }\n"
                                     "int main(int n, char **v) { float a[3] = {n, n, n}; return f(a) != 2; }\n";
  ASSERT_EQ(std::system(("gcc -march=x86-64-v3 -o " + path("kernel") + " " + path("kernel.c")).c_str()), 0);
  EXPECT_EQ(run_on(rich_model(), path("kernel"), {}).exit_code, 0) << "the rich CPU lacks FMA";
  EXPECT_EQ(run_on(kPoor, path("kernel"), {}).exit_code, 128 + SIGILL);
}

#endif

}  // namespace
}  // namespace uop
