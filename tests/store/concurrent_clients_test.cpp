// Sixteen clients of one server that all send a graph nobody has sent before: one compiler run, whatever comes of it,
// and what comes of it costs these requests only.
#include <barrier>

#include "tests/store/store_fixture.h"

namespace uop {
namespace {

using testing::ServerProcess;

constexpr int kClients = 16;

class ConcurrentClientsTest : public CacheDirectoryTest {
 protected:
  void start(const std::string& with_compiler, int time_limit_ms = 60000) {
    server_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"--compiler=" + with_compiler, "--threads=1",
                                 "--compile-timeout-ms=" + std::to_string(time_limit_ms)},
        cache());
    for (int i = 0; i < kClients; ++i) clients_.push_back(value_or_throw(remote(server_->address())));
  }

  /// Each run is noted, waits for the file "go", and does what the file "mode" says.
  std::string told_compiler() const {
    return compiler("told", "echo run >> $dir/runs\nwhile [ ! -e $dir/go ]; do sleep 0.02; done\n. $dir/mode");
  }

  void tell(const std::string& mode) const {
    std::filesystem::remove(path("runs"));
    std::filesystem::remove(path("go"));
    std::ofstream(path("mode")) << mode << "\n";
  }
  void go() const { std::ofstream(path("go")) << ""; }

  /// What each client gets for graph `n`. The compiler is let go when all of them wait for it.
  std::vector<StatusOr<bool>> all_ask(int n, std::vector<RunOptions> each = {}) {
    std::vector<StatusOr<bool>> answers(kClients, false);
    each.resize(kClients);
    std::barrier together(kClients + 1);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kClients; ++i)
      threads.emplace_back([&, i] {
        together.arrive_and_wait();
        answers[i] = run_numbered(*clients_[i], n, each[i]);
      });
    together.arrive_and_wait();
    EXPECT_TRUE(wait_until([&] { return runs() > 0; }));
    std::this_thread::sleep_for(std::chrono::seconds(1));  // from the barrier to the server takes far less
    go();
    threads.clear();
    return answers;
  }

  std::unique_ptr<ServerProcess> server_;
  std::vector<std::shared_ptr<Device>> clients_;
};

TEST_F(ConcurrentClientsTest, OneRunOfACompilerWhateverItDoes) {
  start(told_compiler());
  struct Row {
    const char* about;
    const char* mode;
    const char* says;  // "": the answers are right
  };
  int n = 0;
  for (const Row& row : std::vector<Row>{
           {"compiles", "", ""},
           {"refuses the text", "echo 'error: no such thing'; exit 1", "error: no such thing"},
           {"prints 100 MB", "head -c 100000000 /dev/zero; exit 1", "printed more than"},
           {"crashes", "kill -SEGV $$", "crashed with signal 11"},
           {"is killed", "kill -KILL $$", "was killed"},
           {"writes a broken file", "echo rubbish > $out; exit 0", "not a whole shared object"},
           {"writes half a kernel", "gcc \"$@\" && truncate -s 500 $out; exit", "not a whole shared object"},
       }) {
    SCOPED_TRACE(row.about);
    tell(row.mode);
    const bool fails = row.says[0] != '\0';
    for (const StatusOr<bool>& answer : all_ask(++n)) {
      if (fails)
        EXPECT_THAT(message(answer.status()), ::testing::HasSubstr(row.says));
      else
        EXPECT_TRUE(answer.ok() && *answer) << answer.status();
    }
    EXPECT_EQ(runs(), 1);
    // The failure is not kept: the next to ask has the graph compiled.
    tell("");
    go();
    EXPECT_TRUE(*run_numbered(*clients_[0], n));
    EXPECT_EQ(runs(), fails ? 1 : 0);
  }
  EXPECT_EQ(server_->stop(), 0);
  EXPECT_EQ(entries("kernel").size(), static_cast<std::size_t>(n));
  EXPECT_THAT(rubbish(), ::testing::IsEmpty());
}

TEST_F(ConcurrentClientsTest, ACompilerThatHangsCostsOneTimeLimit) {
  start(compiler("hanging", "echo run >> $dir/runs; [ -e $dir/mode ] || sleep 600"), 4000);
  for (const StatusOr<bool>& answer : all_ask(1))
    EXPECT_THAT(message(answer.status()), ::testing::HasSubstr("time limit"));
  EXPECT_EQ(runs(), 1);
  std::ofstream(path("mode")) << "";
  EXPECT_TRUE(*run_numbered(*clients_[0], 1));
}

TEST_F(ConcurrentClientsTest, WhoWaitsForABuilderThatIsCancelledGetsAnAnswer) {
  start(told_compiler());
  tell("if mkdir $dir/first 2>/dev/null; then sleep 600; fi");
  go();
  std::jthread first([&] {
    const auto impatient = value_or_throw(remote(server_->address()));
    const StatusOr<bool> answer = run_numbered(*impatient, 1, {.timeout = std::chrono::milliseconds(3000)});
    EXPECT_EQ(answer.status().code(), StatusCode::kDeadlineExceeded) << answer.status();
  });
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(path("first")); }));
  for (const StatusOr<bool>& answer : all_ask(1)) EXPECT_TRUE(answer.ok() && *answer) << answer.status();
  first.join();
  EXPECT_EQ(runs(), 2);  // the one that hung, and one for all who waited
}

}  // namespace
}  // namespace uop
