#include "server/status_handler.h"

#include "core/compile/artifact_store.h"

namespace uop {

void set_target(const ServerState& state, uopd::v1::Target& target) {
  const ToolchainInfo& toolchain = state.engine->kernels().toolchain();
  target.set_cpu(toolchain.cpu);
  if (toolchain.available) target.set_compiler(toolchain.version);
  target.set_threads(static_cast<std::uint32_t>(state.engine->threads()));
}

Status server_status(Call& call, uopd::v1::StatusReply& reply) {
  const ServerState& state = call.state();
  const EngineStats s = state.engine->stats();
  const ArtifactStore& store = state.engine->kernels().store();
  reply.set_server_version(UOPD_VERSION);
  reply.set_uptime_seconds(
      static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(state.uptime()).count()));
  set_target(state, *reply.mutable_target());
  reply.set_compiler_problem(state.engine->kernels().toolchain().problem);
  reply.set_cache_dir(store.directory());
  reply.set_cache_problem(store.problem());
  reply.set_draining(state.gate.closed());
  reply.set_sessions(static_cast<std::uint32_t>(state.sessions.sessions()));
  reply.set_buffers(static_cast<std::uint32_t>(state.sessions.buffers()));
  reply.set_plan_memory_hits(s.plan_memory_hits);
  reply.set_plan_store_hits(s.plan_store_hits);
  reply.set_plan_misses(s.plan_misses);
  reply.set_plans(s.plans);
  reply.set_plan_bytes(s.plan_bytes);
  reply.set_kernel_memory_hits(s.kernels.memory_hits);
  reply.set_kernel_store_hits(s.kernels.store_hits);
  reply.set_kernel_compiles(s.kernels.compiles);
  reply.set_kernel_compile_failures(s.kernels.compile_failures);
  reply.set_compile_seconds(s.kernels.compile_seconds);
  reply.set_store_entries(s.store.entries);
  reply.set_store_bytes(s.store.bytes);
  reply.set_store_evictions(s.store.evictions);
  reply.set_store_bad_entries(s.store.bad_entries);
  reply.set_pool_in_use_bytes(s.pool.in_use_bytes);
  reply.set_pool_cached_bytes(s.pool.cached_bytes);
  reply.set_pool_limit_bytes(s.pool.limit_bytes);
  reply.set_runs(s.runs);
  return ok_status();
}

}  // namespace uop
