#include "server/call.h"

#include <new>

#include "core/support/log.h"
#include "server/grpc_status.h"

namespace uop {
namespace {

constexpr const char* kSessionKey = "uopd-session";

/// The deadline on the steady clock, so that setting the system's clock moves no call's end.
std::optional<Clock::time_point> steady_deadline(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
  const std::chrono::nanoseconds left = deadline - std::chrono::system_clock::now();
  return Clock::now() + std::min(left, kLongest);
}

/// Ours to repair, not the client's.
bool is_our_fault(StatusCode code) {
  return code == StatusCode::kInternal || code == StatusCode::kUnknown || code == StatusCode::kDataLoss;
}

}  // namespace

Call::Call(ServerState& state, Method method, grpc::CallbackServerContext& context)
    : state_(state), method_(method), cancel_{stop_.get_token(), steady_deadline(context)} {
  const auto& metadata = context.client_metadata();
  if (const auto at = metadata.find(kSessionKey); at != metadata.end()) {
    session_id_.assign(at->second.data(), at->second.size());
    session_ = state.sessions.pin(session_id_);  // whatever the call is, it renews the lease
  }
}

Status Call::admit() {
  StatusOr<AdmissionGate::Pass> pass = state_.gate.enter(method_ == Method::kStatus);
  if (!pass.ok()) return pass.status();
  pass_ = *std::move(pass);
  return ok_status();
}

StatusOr<Session*> Call::session() const {
  if (session_) return &**session_;
  if (session_id_.empty())
    return invalid_argument("{}: the call names no session; say Hello and send its session id as metadata {}",
                            name(method_), kSessionKey);
  return not_found(
      "{}: the session has ended with its lease of {} s, or is not of this server; say Hello and put the "
      "buffers again",
      name(method_), state_.options.lease_seconds);
}

void Call::add_queued(std::chrono::nanoseconds time) {
  queued_ += time;
  state_.metrics.queued(time);
}

Status Call::guarded(const std::function<Status()>& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return error(StatusCode::kResourceExhausted, "{}: the server is out of memory; ask for less, or retry later",
                 name(method_));
  } catch (const std::exception& e) {
    log(LogLevel::kError, "broken_invariant", {{"method", name(method_)}, {"what", e.what()}});
  } catch (...) {
    log(LogLevel::kError, "broken_invariant", {{"method", name(method_)}, {"what", "unknown exception"}});
  }
  return error(StatusCode::kInternal, "{}: a fault of the server, which goes on; its log says what. Please report it",
               name(method_));
}

grpc::Status Call::finish(const Status& status) {
  const Clock::duration time = Clock::now() - arrived_;
  state_.metrics.rpc(method_, status.code(), time);
  const LogLevel level = is_our_fault(status.code()) ? LogLevel::kError : LogLevel::kDebug;
  log(level, "rpc",
      {{"method", name(method_)},
       {"code", code_name(status.code())},
       {"ms", std::chrono::duration<double, std::milli>(time).count()},
       {"message", message(status)}});
  return to_grpc(status);
}

}  // namespace uop
