// Servers and embedded engines on one directory, all at the same new graphs: every answer right, every kernel compiled
// once among them all.
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

using testing::exit_code_of;
using testing::ServerProcess;

class ManyProcessesTest : public CacheDirectoryTest {};

TEST_F(ManyProcessesTest, TwoServersAndFourEmbeddedEnginesCompileEachKernelOnce) {
  constexpr int kGraphs = 50;
  double compiles = 0, failures = 0;
  {
    ServerProcess one({"--threads=1"}, cache()), two({"--threads=1"}, cache());
    std::vector<pid_t> processes;
    for (int i = 0; i < 6; ++i) {
      std::vector<std::string> arguments = on_cache(0, kGraphs);
      if (i < 2) arguments = {(i == 0 ? one : two).address(), "0", std::to_string(kGraphs)};
      processes.push_back(testing::start_program("store_process", arguments, path("out" + std::to_string(i)),
                                                 path("err" + std::to_string(i)), {}));
    }
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(exit_code_of(processes[static_cast<std::size_t>(i)]), 0)
          << testing::content_of(path("err" + std::to_string(i)));
      const auto report = nlohmann::json::parse(testing::content_of(path("out" + std::to_string(i))));
      EXPECT_EQ(report["right"], kGraphs) << report;
      EXPECT_EQ(report["errors"].size(), 0u) << report;
      EXPECT_EQ(report["store_bad_entries"], 0) << report;
      compiles += report["kernel_compiles"].get<double>();
      failures += report["kernel_compile_failures"].get<double>();
    }
    const std::jthread stopping([&] { one.stop(); });
    two.stop();
  }
  EXPECT_EQ(compiles, kGraphs);  // of the six processes together
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(entries("kernel").size(), std::size_t{kGraphs});
  EXPECT_EQ(entries("plan").size(), std::size_t{kGraphs});
  EXPECT_THAT(rubbish(), ::testing::IsEmpty());
  const auto next = open(options());
  EXPECT_TRUE(*run_numbered(*next, 0));
  EXPECT_EQ(status_number(*next, "kernel_compiles"), 0);
}

}  // namespace
}  // namespace uop
