// The server: sockets, gRPC, the engine and the metrics endpoint, from start to drain.
//
// Server::start is what main and the tests call.
#pragma once

#include <memory>
#include <string>

#include "core/support/status.h"
#include "server/server_options.h"

namespace uop {

/// Where the server can be reached, with the ports it really has; "" for what it does not serve.
struct ServerAddresses {
  std::string grpc;  // "127.0.0.1:9470"
  std::string unix_path;
  std::string metrics;  // "127.0.0.1:9471"
};

class Server {
 public:
  /// Serves when it returns. Errors: UNAVAILABLE that names the address which is taken; INVALID_ARGUMENT for options
  /// that don't fit this machine.
  static StatusOr<std::unique_ptr<Server>> start(const ServerOptions& options);

  /// Stops at once: calls that still run are cancelled.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const ServerAddresses& addresses() const;

  /// Says NOT_SERVING, refuses new calls, lets accepted ones finish for up to --drain-seconds, then stops. Returns
  /// whether all finished. Call once.
  bool drain();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
