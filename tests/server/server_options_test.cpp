// Where options come from, which source wins, and what errors name.
#include "server/server_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace uop {
namespace {

using testing::HasSubstr;

class OptionsTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
    std::filesystem::remove(file_);
  }
  void variable(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  /// The path of a config file with this text.
  std::string config(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  static StatusOr<std::variant<ServerOptions, Printout>> parse(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"uopd"};
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    return parse_server_options(static_cast<int>(argv.size()), argv.data());
  }
  static ServerOptions options(const std::vector<std::string>& arguments) {
    const auto parsed = parse(arguments);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? std::get<ServerOptions>(*parsed) : ServerOptions();
  }
  static std::string problem(const std::vector<std::string>& arguments) {
    const auto parsed = parse(arguments);
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    return message(parsed.status());
  }

  const std::string file_ = testing::TempDir() + "uopd-options-test-" + std::to_string(::getpid()) + ".toml";
  std::vector<std::string> set_;
};

TEST_F(OptionsTest, Defaults) {
  const ServerOptions o = options({});
  EXPECT_EQ(o.listen, "127.0.0.1:9470");
  EXPECT_EQ(o.metrics, "127.0.0.1:9471");
  EXPECT_EQ(o.unix_path, "");
  EXPECT_EQ(o.engine.loaded_kernels, 2000);
}

TEST_F(OptionsTest, FlagsOfBothTables) {
  const ServerOptions o = options({"--listen", "127.0.0.1:0", "--unix=/tmp/s", "--lease-seconds", "7", "--threads", "3",
                                   "--fuse-reduce", "--stage=false", "--numerics", "strict", "--queue=1", "--queue=2"});
  EXPECT_EQ(o.listen, "127.0.0.1:0");
  EXPECT_EQ(o.unix_path, "/tmp/s");
  EXPECT_EQ(o.lease_seconds, 7);
  EXPECT_EQ(o.engine.threads, 3);
  EXPECT_TRUE(o.compile.fuse_reduce);
  EXPECT_FALSE(o.compile.stage);
  EXPECT_EQ(o.compile.numerics, "strict");
  EXPECT_EQ(o.queue, 2) << "the last of several";
}

TEST_F(OptionsTest, FlagOverFileOverEnvironmentOverDefault) {
  variable("UOPD_QUEUE", "10");
  variable("UOPD_THREADS", "10");
  variable("UOPD_DRAIN_SECONDS", "10");
  const std::string path =
      config("# a comment\nthreads = 20\ndrain-seconds = 20\nlog_format = \"json\"\nstage = false\n");
  const ServerOptions o = options({"--config", path, "--drain-seconds", "21"});
  EXPECT_EQ(o.queue, 10);
  EXPECT_EQ(o.engine.threads, 20);
  EXPECT_EQ(o.drain_seconds, 21);
  EXPECT_EQ(o.log_format, "json");
  EXPECT_FALSE(o.compile.stage);
}

TEST_F(OptionsTest, ConfigFileByEnvironment) {
  variable("UOPD_CONFIG", config("queue = 3\n"));
  EXPECT_EQ(options({}).queue, 3);
}

TEST_F(OptionsTest, ErrorsNameTheirSource) {
  EXPECT_THAT(problem({"--threads", "many"}), testing::AllOf(HasSubstr("flag --threads"), HasSubstr("0..1024")));
  EXPECT_THAT(problem({"--log-format", "xml"}), testing::AllOf(HasSubstr("flag --log-format"), HasSubstr("text|json")));
  EXPECT_THAT(problem({"--queue", "0"}), testing::AllOf(HasSubstr("flag --queue"), HasSubstr("1..1000000")));
  EXPECT_THAT(problem({"--no-such-flag"}), HasSubstr("--no-such-flag"));
  EXPECT_THAT(problem({"stray"}), HasSubstr("stray"));
  EXPECT_THAT(problem({"--config", "/does/not/exist"}), HasSubstr("/does/not/exist"));

  const std::string unknown = config("colour = \"blue\"\n");
  EXPECT_THAT(problem({"--config", unknown}), testing::AllOf(HasSubstr(unknown), HasSubstr("colour")));
  const std::string bad = config("lease_seconds = -1\n");
  EXPECT_THAT(problem({"--config", bad}), testing::AllOf(HasSubstr(bad), HasSubstr("lease_seconds")));
  const std::string section = config("[server]\nqueue = 3\n");
  EXPECT_THAT(problem({"--config", section}), HasSubstr("server"));

  variable("UOPD_MAX_MESSAGE_BYTES", "1");
  EXPECT_THAT(problem({}), HasSubstr("UOPD_MAX_MESSAGE_BYTES"));
}

TEST_F(OptionsTest, HelpShowsEveryOptionWithItsDefault) {
  const auto parsed = parse({"--help"});
  ASSERT_TRUE(parsed.ok());
  const std::string help = std::get<Printout>(*parsed).text;
  for (const OptionRow& row : option_rows()) {
    std::string flag = "--" + row.name;
    std::ranges::replace(flag, '_', '-');
    EXPECT_THAT(help, HasSubstr(flag));
    EXPECT_THAT(help, HasSubstr("[" + row.default_value + "]"));
  }
  for (const char* flag :
       {"--listen", "--unix", "--metrics", "--config", "--ready-file", "--version", "127.0.0.1:9470"})
    EXPECT_THAT(help, HasSubstr(flag));
  const auto version = parse({"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(std::get<Printout>(*version).text, "uopd " UOPD_VERSION "\n");
}

}  // namespace
}  // namespace uop
