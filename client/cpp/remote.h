// The remote device: a uopd server over TCP or a unix socket.
#pragma once

#include <memory>
#include <string>

#include "client/cpp/device.h"

namespace uop {

/// The address a server listens on by default.
inline constexpr const char* kDefaultServer = "127.0.0.1:9470";

/// Connects to "host:port" or "unix:/path" and opens a session, which is kept alive in the background; its buffers are
/// freed when their handles go. A structure that ran once runs again by its plan id, without sending the graph.
/// Errors: UNAVAILABLE that names the address; FAILED_PRECONDITION where client and server share no protocol version.
StatusOr<std::shared_ptr<Device>> remote(const std::string& address = kDefaultServer);

class Connection;
/// The device behind a connection that is open; what tests stand in for a server with.
std::shared_ptr<Device> remote(std::shared_ptr<Connection> connection);

}  // namespace uop
