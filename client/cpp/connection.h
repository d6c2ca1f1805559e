// A session with a uopd server: the calls of service.proto, blocking, with the session's id and its lease looked after.
// Only connection.cpp knows gRPC.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/support/status.h"
#include "uopd/v1/service.pb.h"

namespace uop {

/// The protocol versions this client speaks.
inline constexpr std::uint32_t kMinProtocol = 1;
inline constexpr std::uint32_t kMaxProtocol = 1;

/// How a server that has vanished (a pulled cable, a machine that stands still) is told from one that works for long:
/// it no longer answers pings, which a server does whatever its calls are busy with. Calls then end with UNAVAILABLE.
struct Liveness {
  std::chrono::milliseconds ping_every{10'000};  // while calls wait and nothing comes; servers permit 5 s
  std::chrono::milliseconds answer_within{10'000};
};

class Connection {
 public:
  using Timeout = std::optional<std::chrono::milliseconds>;  // none: no limit

  /// Says Hello. Errors: UNAVAILABLE that names the address and says what to do; as Hello.
  static StatusOr<std::shared_ptr<Connection>> open(const std::string& address, const Liveness& liveness = {});
  virtual ~Connection() = default;

  // Calls without a timeout end when their server has answered or vanished.

  /// Uploads the bytes as a stream; returns the buffer's id.
  virtual StatusOr<std::string> put(std::span<const std::byte> bytes, const uopd::v1::TensorSpec& tensor) = 0;
  virtual StatusOr<std::vector<std::byte>> get(const std::string& buffer, std::uint64_t bytes) = 0;
  /// Frees the buffer soon, together with others; never blocks.
  virtual void release(std::string buffer) = 0;

  virtual StatusOr<uopd::v1::CompileReply> compile(const uopd::v1::CompileRequest& request, Timeout timeout) = 0;
  virtual StatusOr<uopd::v1::ExecuteReply> execute(const uopd::v1::ExecuteRequest& request, Timeout timeout) = 0;
  virtual StatusOr<uopd::v1::ExplainReply> explain(const uopd::v1::ExplainRequest& request, Timeout timeout) = 0;
  virtual StatusOr<uopd::v1::StatusReply> status() = 0;

  virtual const std::string& address() const = 0;
};

}  // namespace uop
