#include "server/server_state.h"

#include <algorithm>

namespace uop {
namespace {

constexpr std::uint64_t kInlineBytes = 16 << 20;
constexpr std::uint64_t kChunkBytes = 1 << 20;

/// Threads that look up, plan, and wait for compilers. More than there are CPUs, so that a cached graph seldom waits
/// behind others' compilers, which are processes of their own and bounded by compile_jobs.
constexpr int kCompileThreads = 16;

}  // namespace

StatusOr<std::unique_ptr<ServerState>> ServerState::create(const ServerOptions& options) {
  auto state = std::make_unique<ServerState>();
  state->options = options;
  const auto message_bytes = static_cast<std::uint64_t>(options.max_message_bytes);
  // Half a message leaves room for what surrounds the bytes.
  state->limits = {message_bytes, std::min(kInlineBytes, message_bytes / 2), std::min(kChunkBytes, message_bytes / 2)};

  EngineEvents events;
  events.compiled = [s = state.get()](std::chrono::nanoseconds time, bool ok) { s->metrics.compiled(time, ok); };
  events.kernel_ran = [s = state.get()](const KernelLaunch& kernel, std::chrono::nanoseconds time) {
    const double seconds = std::max(0.0, std::chrono::duration<double>(time).count());
    s->kernels.record(kernel.name, {1, seconds, kernel.flops, kernel.bytes});
  };
  StatusOr<std::unique_ptr<Engine>> engine = Engine::create(options.engine, std::move(events));
  if (!engine.ok()) return engine.status();
  state->engine = *std::move(engine);

  const auto waiting = static_cast<std::size_t>(options.queue);
  const int jobs = options.execute_jobs > 0 ? static_cast<int>(options.execute_jobs) : state->engine->threads();
  state->compiles = std::make_unique<WorkQueue>("compile", kCompileThreads, waiting);
  state->runs = std::make_unique<WorkQueue>("run", options.execute_jobs > 0 ? jobs : std::max(2, jobs), waiting);
  return state;
}

}  // namespace uop
