// Addresses to listen on: from the text of an option to a bound socket, with an error that names the address.
//
// We bind and accept ourselves, instead of letting gRPC do so, because gRPC shares a taken port by default, replaces a
// live server's unix socket, says nothing of why it failed, and stops accepting for good once descriptors run out.
#pragma once

#include <cstdint>
#include <string>

#include "core/support/status.h"

namespace uop {

/// A listening socket (non-blocking, closed on exec) and the address it really has ("127.0.0.1:41234").
struct ListeningSocket {
  int fd;
  std::string address;
};

/// `address` is "127.0.0.1:9470", "localhost:0" or "[::1]:9470". Errors: INVALID_ARGUMENT for what is no address,
/// UNAVAILABLE where it is taken or not this machine's.
StatusOr<ListeningSocket> listen_tcp(const std::string& address);

/// A socket file of mode 0600; one that a dead server left is replaced. Errors: INVALID_ARGUMENT for a path that can't
/// be used, UNAVAILABLE where a live server listens there.
StatusOr<ListeningSocket> listen_unix(const std::string& path);

/// Whether only this machine can reach the address.
bool is_loopback(const std::string& address);

}  // namespace uop
