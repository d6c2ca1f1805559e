#include "bench/server_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/plan_runner.h"

namespace uop::bench {

ServerProcess::ServerProcess(const std::string& directory) : unix_path_(directory + "/socket") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "uopd";
  const std::string ready = directory + "/ready.json";
  std::vector<std::string> arguments{
      program,       "--listen",           "127.0.0.1:0", "--unix", unix_path_,     "--metrics", "127.0.0.1:0",
      "--cache-dir", directory + "/cache", "--threads",   "1",      "--ready-file", ready,       "--log-level",
      "error"};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0)
    require(error(StatusCode::kNotFound, "{} cannot be started; build it first", program));
  while (!std::filesystem::exists(ready)) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) require(error(StatusCode::kInternal, "uopd ended before it served"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  tcp_ = nlohmann::json::parse(std::ifstream(ready)).at("grpc");
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

}  // namespace uop::bench
