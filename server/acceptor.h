// Accepts connections of a listening socket and hands them on.
#pragma once

#include <functional>
#include <memory>

#include "server/background.h"
#include "server/socket_address.h"

namespace uop {

class Acceptor {
 public:
  /// Owns the socket; its backlog keeps connections until `start`.
  Acceptor(Background& background, ListeningSocket socket);
  /// Closes it: who connects from then on is refused.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Calls `on_connection` in the background thread with each new connection, which it then owns. Where descriptors
  /// have run out it waits a little and goes on.
  void start(std::function<void(int fd)> on_connection);

  const std::string& address() const { return address_; }

 private:
  struct Impl;
  Background& background_;
  const std::string address_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
