// `uop` as its users see it: exit codes, output and files of the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/npy.h"
#include "tests/client/process.h"

namespace uop {
namespace {

using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;
using testing::run_program;
using testing::ServerProcess;

constexpr const char* kRowSums = R"(# sums of the rows of a (2,3) input, and twice that input
%0 = BUFFER slot=0 dtype=f32 size=6 : f32[6]
%1 = RESHAPE(%0) shape=[2,3] : f32[2,3]
%2 = REDUCE(%1) op=ADD axes=1 : f32[2]
%3 = ADD(%1, %1) : f32[2,3]
return %2, %3
)";

class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    write("g.txt", kRowSums);
    NpyArray x{DType::kF32, {2, 3}, std::vector<std::byte>(24)};
    for (int i = 0; i < 6; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(x.bytes.data() + 4 * i, &value, 4);
    }
    EXPECT_TRUE(write_npy(path("x.npy"), x).ok());
  }
  std::string path(const std::string& file) const { return dir_ / file; }
  void write(const std::string& file, const std::string& content) const {
    std::ofstream(path(file), std::ios::binary) << content;
  }
  /// On the embedded engine with a cache of this test.
  Finished uop(std::vector<std::string> arguments) const {
    return run_program("uop", std::move(arguments), {"UOPD_CACHE_DIR=" + path("cache"), "UOPD_SERVER="});
  }
  std::vector<float> floats(const std::string& file) const {
    const StatusOr<NpyArray> array = read_npy(path(file));
    EXPECT_TRUE(array.ok()) << message(array.status());
    std::vector<float> values(array.ok() ? array->bytes.size() / 4 : 0);
    if (!values.empty()) std::memcpy(values.data(), array->bytes.data(), array->bytes.size());
    return values;
  }
  TemporaryDirectory dir_;
};

TEST_F(CliTest, RunWritesFilesAndShowsTheRest) {
  const Finished run = uop({"run", path("g.txt"), "-i", "0=" + path("x.npy"), "-o", "1=" + path("y.npy"), "-v", "2"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("0 f32[2] 3 12\n"));
  EXPECT_THAT(floats("y.npy"), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(run.err, ::testing::AllOf(HasSubstr("r_2"), HasSubstr("e_2_3"), HasSubstr("GFLOP/s"),
                                        HasSubstr("run: 2 kernels (2 compiled), plan from compiled")));

  const Finished again = uop({"--json", "run", path("g.txt"), "-i", "0=" + path("x.npy"), "-d", path("")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json()["report"]["kernels_compiled"], 0) << "the cache directory outlives the process";
  EXPECT_EQ(again.json()["outputs"][0]["shape"], nlohmann::json({2}));
  EXPECT_THAT(floats("0.npy"), ElementsAre(3, 12));
}

TEST_F(CliTest, ASecondRunCompilesNothing) {
  EXPECT_EQ(uop({"plan", path("g.txt")}).exit_code, 0);
  EXPECT_EQ(uop({"--json", "plan", path("g.txt")}).json()["kernels_compiled"], 0);
}

TEST_F(CliTest, PlanShowsKernels) {
  const Finished plan = uop({"plan", path("g.txt"), "--opt", "0", "--json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  const nlohmann::json kernels = plan.json()["kernels"];
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["name"], "r_2");
  EXPECT_EQ(kernels[0]["refs"], nlohmann::json({"in0", "out0"}));
  EXPECT_EQ(kernels[0]["flops"], 6);
  EXPECT_THAT(uop({"plan", path("g.txt")}).out, HasSubstr("e_2_3"));
}

TEST_F(CliTest, ExplainShowsTheCSource) {
  const Finished explain = uop({"explain", path("g.txt"), "--stage", "render_c"});
  EXPECT_EQ(explain.exit_code, 0) << explain.err;
  EXPECT_THAT(explain.out, ::testing::AllOf(HasSubstr("== render_c r_2"), HasSubstr("UOP_ENTRY")));
  const Finished json = uop({"explain", path("g.txt"), "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_GT(json.json()["stages"].size(), 3u);
  const Finished unknown = uop({"explain", path("g.txt"), "--stage", "nonsense"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("no stage is named nonsense; there are "));
}

TEST_F(CliTest, ConvertGoesBothWays) {
  EXPECT_EQ(uop({"convert", path("g.txt"), path("g.uopg")}).exit_code, 0);
  const Finished text = uop({"convert", path("g.uopg"), "-"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("REDUCE(%1) op=ADD axes=1 : f32[2]"));
  const Finished run = uop({"run", path("g.uopg"), "-i", "0=" + path("x.npy")});
  EXPECT_THAT(run.out, HasSubstr("0 f32[2] 3 12\n")) << run.err;
}

TEST_F(CliTest, OpsAndStatusAreTables) {
  EXPECT_THAT(uop({"ops"}).out, ::testing::AllOf(HasSubstr("REDUCE"), HasSubstr("bf16")));
  const nlohmann::json ops = uop({"ops", "--json"}).json();
  EXPECT_GT(ops["ops"].size(), 40u);
  EXPECT_EQ(ops["dtypes"].size(), 13u);
  const Finished status = uop({"status", "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(status.json()["device"], "embedded");
  EXPECT_GE(status.json()["threads"], 1);
}

TEST_F(CliTest, CacheCommands) {
  ASSERT_EQ(uop({"plan", path("g.txt")}).exit_code, 0);
  const nlohmann::json list = uop({"cache", "list", "--json"}).json();
  EXPECT_EQ(list["directory"], path("cache"));
  ASSERT_EQ(list["entries"].size(), 3u) << "two kernels and a plan";
  const nlohmann::json size = uop({"--json", "cache", "size"}).json();
  EXPECT_EQ(size["entries"], 3);
  EXPECT_GT(size["bytes"], 1000);
  EXPECT_EQ(uop({"cache", "verify"}).exit_code, 0);
  EXPECT_EQ(uop({"cache", "clear", "--json"}).json()["removed"], 3);
  EXPECT_EQ(uop({"--json", "cache", "size"}).json()["entries"], 0);
}

TEST_F(CliTest, ServersAreUsedAndRemoteRunsAreVerboseToo) {
  ServerProcess server;
  const Finished run = uop({"-s", server.address(), "-v", "4", "run", path("g.txt"), "-i", "0=" + path("x.npy")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("0 f32[2] 3 12\n"));
  EXPECT_THAT(run.err, ::testing::AllOf(HasSubstr("UOP_ENTRY"), HasSubstr("r_2"), HasSubstr("(again: ")));
  const nlohmann::json status = uop({"-s", server.unix_address(), "status", "--json"}).json();
  EXPECT_EQ(status["device"], server.unix_address());
  EXPECT_EQ(status["runs"], 1);
  const Finished through_environment = run_program("uop", {"status", "--json"}, {"UOPD_SERVER=" + server.address()});
  EXPECT_EQ(through_environment.json()["device"], server.address());
}

TEST_F(CliTest, ServeBecomesTheServer) {
  const Finished help = uop({"serve", "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("--lease-seconds"));
}

TEST_F(CliTest, ErrorRows) {
  write("bad.txt", "%0 = BUFFER slot=0 dtype=f32 size=6\n%1 = ADD(%0)\nreturn %1\n");
  write("noise.uopg", std::string("\x0a\x02\x08\x7f\xff\xff", 6));
  write("short.npy", "\x93NUMPY");
  struct Row {
    std::vector<std::string> arguments;
    int exit_code;
    std::string text;
  };
  const std::string graph = path("g.txt");
  const Row rows[] = {
      {{}, 2, "a command is needed"},
      {{"fly"}, 2, "fly"},
      {{"run"}, 2, "graph is required"},
      {{"run", graph, "--wings", "2"}, 2, "--wings"},
      {{"plan", graph, "--opt", "7"}, 2, "opt"},
      {{"plan", graph, "--threads", "1", "-s", "unix:" + path("nobody")}, 2, "--threads is for the engine in this"},
      {{"run", graph, "-v", "9"}, 2, "verbosity"},
      {{"run", path("none.txt")}, 1, "none.txt cannot be read"},
      {{"run", path("bad.txt")}, 1, "ADD takes 2 sources; got 1"},
      {{"plan", path("noise.uopg")}, 1, "noise.uopg: "},
      {{"run", graph}, 1, "the graph reads BUFFER slot 0, f32[6]; give it with --input 0=FILE.npy"},
      {{"run", graph, "-i", "x.npy"}, 1, "write NUMBER=VALUE"},
      {{"run", graph, "-i", "0=" + path("x.npy"), "-i", "3=y.npy"}, 1, "no BUFFER slot 3"},
      {{"run", graph, "-i", "0=" + path("short.npy")}, 1, "short.npy: it does not begin as a .npy file"},
      {{"run", graph, "-i", "0=" + path("x.npy"), "-o", "5=y.npy"}, 1, "2 roots, numbered from 0"},
      {{"-s", "unix:" + path("nobody"), "status"}, 3, "is not available"},
  };
  for (const Row& row : rows) {
    const Finished finished = uop(row.arguments);
    EXPECT_EQ(finished.exit_code, row.exit_code) << row.text << ": " << finished.err;
    EXPECT_THAT(finished.err + finished.out, HasSubstr(row.text));
  }
}

TEST_F(CliTest, EveryCommandHasHelp) {
  EXPECT_THAT(uop({"--help"}).out, HasSubstr("Exit codes"));
  EXPECT_THAT(uop({"--version"}).out, HasSubstr("uop 0."));
  for (const std::string command : {"run", "plan", "explain", "convert", "ops", "status", "cache"}) {
    const Finished help = uop({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr(command));
  }
}

TEST_F(CliTest, TheDigitsDemoGetsThemRight) {
  const Finished demo =
      run_program("uop_demo", {"digits", "--data", UOP_TEST_DATA "/digits"}, {"XDG_CACHE_HOME=" + path("home")});
  EXPECT_EQ(demo.exit_code, 0) << demo.err;
  EXPECT_THAT(demo.out, HasSubstr("576 of 597 right\n"));
}

}  // namespace
}  // namespace uop
