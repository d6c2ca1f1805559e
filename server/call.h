// A call from its arrival to its reply, whatever its kind: admission, session, deadline and cancellation, and at the
// end metrics, log line and status. Unary calls and both streams are built on it.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <optional>

#include "server/methods.h"
#include "server/server_state.h"

namespace uop {

class Call {
 public:
  /// Both must outlive it.
  Call(ServerState& state, Method method, grpc::CallbackServerContext& context);

  /// Whether the call may be served. Ask first. Errors: UNAVAILABLE while draining.
  Status admit();

  ServerState& state() const { return state_; }
  const Cancel& cancel() const { return cancel_; }
  /// The caller went away: whatever looks at cancel() stops.
  void stop() { stop_.request_stop(); }

  /// The session that the call names. Errors: INVALID_ARGUMENT where it names none, NOT_FOUND where that has ended.
  StatusOr<Session*> session() const;

  /// Time in queues so far.
  std::chrono::nanoseconds queued() const { return queued_; }
  void add_queued(std::chrono::nanoseconds time);

  /// `step`'s status; what it throws becomes INTERNAL or RESOURCE_EXHAUSTED, with a line in the log, and the server
  /// goes on. Everything that serves a call runs inside this.
  Status guarded(const std::function<Status()>& step);

  /// Counts and logs the outcome; to be sent to the client. Call once.
  grpc::Status finish(const Status& status);

 private:
  ServerState& state_;
  const Method method_;
  const Clock::time_point arrived_ = Clock::now();
  std::stop_source stop_;
  Cancel cancel_;
  std::string session_id_;
  std::optional<SessionPin> session_;
  std::chrono::nanoseconds queued_{};
  AdmissionGate::Pass pass_;
};

}  // namespace uop
