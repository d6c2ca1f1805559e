// All that the handlers of calls work on: one of each per server.
#pragma once

#include <memory>

#include "core/engine.h"
#include "server/admission_gate.h"
#include "server/idle_streams.h"
#include "server/kernel_table.h"
#include "server/metrics.h"
#include "server/server_options.h"
#include "server/session_table.h"
#include "server/work_queue.h"

namespace uop {

/// What a client may send; reported by Hello.
struct ServerLimits {
  std::uint64_t message_bytes;
  std::uint64_t inline_bytes;  // of all inline values of one Execute: what still is one message, sent in one piece
  std::uint64_t chunk_bytes;   // small enough that a stream's memory does not matter, large enough for full speed
};

struct ServerState {
  /// Errors: Engine::create's.
  static StatusOr<std::unique_ptr<ServerState>> create(const ServerOptions& options);

  std::chrono::nanoseconds uptime() const { return Clock::now() - started; }

  // In order of need: what stands later uses what stands before, and goes first.
  ServerOptions options;
  ServerLimits limits{};
  Clock::time_point started = Clock::now();
  Metrics metrics;
  KernelTable kernels;
  std::unique_ptr<Engine> engine;
  SessionTable sessions;
  AdmissionGate gate;
  IdleStreams streams{kSweepsOfLease};
  std::unique_ptr<WorkQueue> compiles;
  std::unique_ptr<WorkQueue> runs;
};

}  // namespace uop
