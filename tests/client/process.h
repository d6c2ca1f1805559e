// Programs of the build as child processes: `run_program` for one that ends, ServerProcess for uopd.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_directory.h"

namespace uop::testing {

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Starts bin/`program`, or the program of that path; stdout and stderr go to files. Variables of `environment` come
/// first and win.
inline pid_t start_program(const std::string& program, std::vector<std::string> arguments, const std::string& out,
                           const std::string& err, std::vector<std::string> environment) {
  std::string path = program.starts_with('/') ? program : std::string(UOP_BINARY_DIR) + "/" + program;
  std::vector<char*> argv{path.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (std::string& variable : environment) envp.push_back(variable.data());
  for (char** variable = environ; *variable != nullptr; ++variable) envp.push_back(*variable);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = -1;
  const int problem = posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::runtime_error(path + " cannot be started; build it first");
  return pid;
}

inline int exit_code_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Finished {
  int exit_code;
  std::string out;
  std::string err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline Finished run_program(const std::string& program, std::vector<std::string> arguments,
                            std::vector<std::string> environment = {}) {
  const TemporaryDirectory dir;
  const pid_t pid = start_program(program, std::move(arguments), dir / "out", dir / "err", std::move(environment));
  const int code = exit_code_of(pid);
  return {code, content_of(dir / "out"), content_of(dir / "err")};
}

/// A uopd of its own, on a free port and a unix socket, with a cache directory of its own unless one is named. `stop`
/// (or the destructor) drains it.
class ServerProcess {
 public:
  explicit ServerProcess(std::vector<std::string> more = {}, const std::string& cache_dir = "") {
    std::vector<std::string> arguments{
        "--listen",    "127.0.0.1:0",  "--unix",       dir_ / "socket", "--metrics",
        "127.0.0.1:0", "--ready-file", dir_ / "ready", "--cache-dir",   cache_dir.empty() ? dir_ / "cache" : cache_dir};
    arguments.insert(arguments.end(), more.begin(), more.end());
    pid_ = start_program("uopd", arguments, dir_ / "out", dir_ / "err", {});
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(dir_ / "ready")) {
      if (waitpid(pid_, nullptr, WNOHANG) == pid_ || std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("uopd did not start: " + content_of(dir_ / "err"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const nlohmann::json ready = nlohmann::json::parse(content_of(dir_ / "ready"));
    address_ = ready["grpc"];
    metrics_ = ready["metrics"];
  }
  ~ServerProcess() { stop(); }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }
  std::string unix_address() const { return "unix:" + dir_ / "socket"; }

  /// host:port of what Prometheus scrapes.
  const std::string& metrics() const { return metrics_; }

  /// What it has logged.
  std::string log() const { return content_of(dir_ / "err"); }

  void signal(int number) const { kill(pid_, number); }

  /// Its exit code.
  int stop() {
    if (pid_ < 0) return 0;
    kill(pid_, SIGTERM);
    return exit_code_of(std::exchange(pid_, -1));
  }

 private:
  TemporaryDirectory dir_;
  pid_t pid_ = -1;
  std::string address_, metrics_;
};

}  // namespace uop::testing
