// A uopd of the same build, as a child process.
#pragma once

#include <sys/types.h>

#include <string>

namespace uop::bench {

class ServerProcess {
 public:
  /// Starts it on a free port and a unix socket in `directory`, with its cache there; returns when it serves.
  explicit ServerProcess(const std::string& directory);
  /// Stops it.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& tcp() const { return tcp_; }
  const std::string& unix_path() const { return unix_path_; }

 private:
  pid_t pid_ = -1;
  std::string tcp_;
  std::string unix_path_;
};

}  // namespace uop::bench
