#include "server/session_handlers.h"

#include <algorithm>

#include "core/ir/op.h"
#include "core/ir/shape_rules.h"
#include "core/support/log.h"
#include "core/wire/graph_codec.h"
#include "server/status_handler.h"
#include "server/tensor_message.h"

namespace uop {
namespace {

constexpr std::size_t kMaxClientName = 128;

void add_tables(uopd::v1::HelloReply& reply) {
  for (const OpRow& row : op_rows()) {
    if (row.number == 0) continue;  // made by lowering, never sent
    auto& op = *reply.add_ops();
    op.set_number(row.number);
    op.set_name(std::string(row.name));
    op.set_arity(row.arity);
    op.set_kinds(std::string(row.kinds));
    op.set_help(std::string(row.help));
  }
  for (const DTypeRow& row : dtype_rows()) {
    auto& dtype = *reply.add_dtypes();
    dtype.set_dtype(static_cast<uopd::v1::DType>(row.dtype));
    dtype.set_name(std::string(row.name));
    dtype.set_bytes(static_cast<std::uint32_t>(row.bytes));
  }
}

/// Compile options; the defaults are this server's, which may differ from the table's.
void add_options(const CompileOptions& defaults, uopd::v1::HelloReply& reply) {
  const auto values = to_pairs(defaults);
  for (const OptionRow& row : option_rows()) {
    if (!row.in_key) continue;
    auto& option = *reply.add_options();
    option.set_name(row.name);
    option.set_type(row.type);
    const auto value = std::ranges::find(values, row.name, &std::pair<std::string, std::string>::first);
    option.set_default_value(value == values.end() ? row.default_value : value->second);
    option.set_allowed(row.check);
    option.set_help(row.help);
  }
}

void set_limits(const ServerState& state, uopd::v1::Limits& limits) {
  limits.set_nodes(kMaxNodes);
  limits.set_roots(kMaxRoots);
  limits.set_rank(kMaxRank);
  limits.set_elements(kMaxElements);
  limits.set_message_bytes(state.limits.message_bytes);
  limits.set_inline_bytes(state.limits.inline_bytes);
  limits.set_chunk_bytes(state.limits.chunk_bytes);
  limits.set_pool_bytes(static_cast<std::uint64_t>(state.options.engine.pool_bytes));
}

std::uint32_t lease(const ServerState& state) {
  return static_cast<std::uint32_t>(state.options.lease_seconds);
}

}  // namespace

Status hello(Call& call, const uopd::v1::HelloRequest& request, uopd::v1::HelloReply& reply) {
  const std::uint32_t version = std::min(request.max_version(), kMaxProtocol);
  if (version < std::max(request.min_version(), kMinProtocol))
    return error(StatusCode::kFailedPrecondition,
                 "the client speaks protocol versions {}..{}, the server {}..{}; use a client or a server of a version "
                 "that overlaps",
                 request.min_version(), request.max_version(), kMinProtocol, kMaxProtocol);
  ServerState& state = call.state();
  StatusOr<std::string> session = state.sessions.open();
  if (!session.ok()) return session.status();

  reply.set_version(version);
  reply.set_server_version(UOPD_VERSION);
  reply.set_session(*std::move(session));
  reply.set_lease_seconds(lease(state));
  add_tables(reply);
  set_limits(state, *reply.mutable_limits());
  set_target(state, *reply.mutable_target());
  add_options(state.options.compile, reply);
  log(LogLevel::kInfo, "session_opened", {{"client", request.client().substr(0, kMaxClientName)}});
  return ok_status();
}

Status renew(Call& call, uopd::v1::RenewReply& reply) {
  const StatusOr<Session*> session = call.session();  // naming it was enough to renew it
  if (!session.ok()) return session.status();
  reply.set_lease_seconds(lease(call.state()));
  return ok_status();
}

Status free_buffers(Call& call, const uopd::v1::FreeBuffersRequest& request, uopd::v1::FreeBuffersReply& reply) {
  const StatusOr<Session*> session = call.session();
  if (!session.ok()) return session.status();
  std::uint32_t freed = 0;
  for (const std::string& id : request.buffers()) freed += (*session)->free(id) ? 1 : 0;
  reply.set_freed(freed);
  reply.set_unknown(static_cast<std::uint32_t>(request.buffers_size()) - freed);
  return ok_status();
}

Status list_buffers(Call& call, uopd::v1::ListBuffersReply& reply) {
  const StatusOr<Session*> session = call.session();
  if (!session.ok()) return session.status();
  for (const auto& [id, buffer] : (*session)->list()) {
    auto& info = *reply.add_buffers();
    info.set_buffer(id);
    *info.mutable_tensor() = to_message(buffer.tensor);
    info.set_bytes(buffer.memory->bytes());
  }
  return ok_status();
}

}  // namespace uop
