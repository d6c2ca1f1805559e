// Signals of a running server: the first SIGTERM or SIGINT drains it, the second ends it at once; SIGHUP, SIGUSR1,
// SIGUSR2 and SIGPIPE do nothing.
#pragma once

#include "server/server.h"

namespace uop {

/// To be called before other threads exist: from now on the signals do not end the process.
class Signals {
 public:
  Signals();
  ~Signals();

  /// Waits for SIGTERM or SIGINT (one that came earlier counts), drains the server, and returns when that is done.
  void drain_on_signal(Server& server);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
