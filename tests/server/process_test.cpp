// The real binary: flags, signals, exit codes, the ready file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

/// A uopd of our own; ended with the test.
class Process {
 public:
  Process(const std::vector<std::string>& arguments, const std::string& log, bool closed_streams = false) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int fd : {1, 2}) {
      if (closed_streams) {
        posix_spawn_file_actions_addclose(&actions, fd);
      } else {
        posix_spawn_file_actions_addopen(&actions, fd, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      }
    }
    const std::string program = UOP_BINARY_DIR "/uopd";
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ), 0) << program;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  bool alive() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ > 0;
  }
  /// The exit code; 128 + the signal that ended it.
  int wait() {
    if (pid_ > 0) ::waitpid(pid_, &status_, 0);
    pid_ = 0;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  pid_t pid_ = 0;
  int status_ = 0;
};

class ProcessTest : public testing::Test {
 protected:
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--ready-file=" + ready_,
                                    "--cache-dir=" + (directory / "cache")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::unique_ptr<Process> started(const std::vector<std::string>& more = {}, bool closed_streams = false) {
    auto process = std::make_unique<Process>(arguments(more), log_, closed_streams);
    EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(ready_) || !process->alive(); }));
    EXPECT_TRUE(process->alive()) << read_file(log_);
    return process;
  }
  nlohmann::json ready() const { return nlohmann::json::parse(read_file(ready_)); }
  TestClient client() const {
    TestClient c(ready()["grpc"].get<std::string>());
    c.say_hello();
    return c;
  }

  TemporaryDirectory directory;
  const std::string ready_ = directory / "ready.json";
  const std::string log_ = directory / "log";
};

TEST_F(ProcessTest, ServesAndSaysWhere) {
  const auto process = started({"--unix=" + (directory / "s")});
  EXPECT_TRUE(client().can_still_add());
  EXPECT_EQ(ready()["unix"], directory / "s");
  EXPECT_THAT(ready()["metrics"].get<std::string>(), testing::StartsWith("127.0.0.1:"));
  EXPECT_GT(ready()["pid"].get<int>(), 0);
  EXPECT_THAT(read_file(log_), testing::AllOf(HasSubstr("started"), HasSubstr(ready()["grpc"].get<std::string>()),
                                              HasSubstr("cache_dir"), HasSubstr(UOPD_VERSION)));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  EXPECT_THAT(read_file(log_), testing::AllOf(HasSubstr("draining"), HasSubstr("stopped")));
}

TEST_F(ProcessTest, TerminatedUnderLoadFinishesWhatItAccepted) {
  const auto process = started();
  client().can_still_add();
  std::atomic<bool> refused = false;
  std::vector<std::string> wrong;
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const TestClient c = client();
      v1::ExecuteRequest request;
      *request.mutable_graph() = graph_of(kSum);
      request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4}));
      request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4}));
      request.set_inline_outputs(true);
      for (grpc::Status status; status.ok();) {
        v1::ExecuteReply reply;
        status = c.call(&Stub::Execute, request, reply);
        ++answered;
        if (status.ok()) continue;
        refused = true;
        const std::lock_guard lock(mutex);
        if (status.error_code() != grpc::UNAVAILABLE) wrong.push_back(status.error_message());
      }
    });
  }
  EXPECT_TRUE(wait_until([&] { return answered > 200; }));
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(refused);
  EXPECT_THAT(wrong, testing::IsEmpty());
}

TEST_F(ProcessTest, SecondSignalEndsAtOnce) {
  const auto process = started({"--compiler=" + hanging_compiler(directory), "--drain-seconds=600"});
  std::thread compile([c = client()] {
    v1::CompileRequest request;
    *request.mutable_graph() = graph_of(kSum);
    v1::CompileReply reply;
    EXPECT_EQ(c.call(&Stub::Compile, request, reply).error_code(), grpc::UNAVAILABLE);
  });
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(directory / "started"); }));
  process->signal(SIGTERM);
  EXPECT_TRUE(wait_until([&] { return read_file(log_).find("draining") != std::string::npos; }));
  EXPECT_TRUE(process->alive());
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 1);
  compile.join();
  ::kill(std::stoi(read_file(directory / "started")), SIGKILL);  // the compiler that hangs is nobody's child any more
}

TEST_F(ProcessTest, OtherSignalsDoNotEndIt) {
  const auto process = started();
  for (const int signal : {SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) process->signal(signal);
  EXPECT_TRUE(client().can_still_add());
  EXPECT_TRUE(process->alive());
}

TEST_F(ProcessTest, RunsWithClosedStandardStreams) {
  const auto process = started({"--log-level=debug"}, /*closed_streams=*/true);
  EXPECT_TRUE(client().can_still_add());
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(ProcessTest, TakenAddressesEndItWithCodeOne) {
  const auto process = started({"--unix=" + (directory / "s")});
  const std::string said = directory / "said";
  for (const std::string& taken :
       {"--listen=" + ready()["grpc"].get<std::string>(), "--metrics=" + ready()["metrics"].get<std::string>(),
        "--unix=" + (directory / "s")}) {
    Process second({"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--cache-dir=" + (directory / "cache2"), taken},
                   said);
    EXPECT_EQ(second.wait(), 1) << taken;
    EXPECT_THAT(read_file(said), HasSubstr(taken.substr(taken.find('=') + 1)));
  }
  EXPECT_TRUE(client().can_still_add());
}

TEST_F(ProcessTest, StaleSocketOfADeadServerIsReplaced) {
  const std::vector<std::string> unix_socket = {"--unix=" + (directory / "s")};
  {
    const auto killed = started(unix_socket);
    killed->signal(SIGKILL);
    killed->wait();
  }
  ASSERT_TRUE(std::filesystem::exists(directory / "s"));
  std::filesystem::remove(ready_);
  const auto process = started(unix_socket);
  TestClient c("unix:" + (directory / "s"));
  c.say_hello();
  EXPECT_TRUE(c.can_still_add());
}

TEST_F(ProcessTest, BadOptionsEndItWithCodeOne) {
  const std::string file = directory / "uopd.toml";
  std::ofstream(file) << "lisen = \"127.0.0.1:0\"\n";
  Process process({"--config=" + file}, log_);
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(read_file(log_), testing::AllOf(HasSubstr("lisen"), HasSubstr(file)));
}

TEST_F(ProcessTest, LogsJsonLines) {
  const auto process = started({"--log-format=json"});
  EXPECT_TRUE(client().can_still_add());
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  std::istringstream log(read_file(log_));
  std::vector<std::string> events;
  for (std::string line; std::getline(log, line);) events.push_back(nlohmann::json::parse(line)["event"]);
  EXPECT_THAT(events, testing::IsSupersetOf({"started", "draining", "stopped"}));
}

}  // namespace
}  // namespace uop
