#include "server/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include <vector>

#include "core/compile/artifact_store.h"
#include "core/support/log.h"
#include "server/acceptor.h"
#include "server/metrics_endpoint.h"
#include "server/ready_file.h"
#include "server/service.h"

namespace uop {
namespace {

/// A connection whose other side is gone is found out within kKeepaliveMs + kKeepaliveTimeoutMs.
constexpr int kKeepaliveMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
constexpr int kClientPingsMs = 5'000;  // clients may ping this often, also without calls
constexpr int kStreamsPerConnection = 1'000;

/// After a drain: long enough for clients to hear that the server goes, too short for an operator to notice.
constexpr std::chrono::milliseconds kQuiet{500};
constexpr std::chrono::milliseconds kQuietLimit{3'000};

std::unique_ptr<grpc::Server> build_grpc(Service& service, const ServerLimits& limits) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.RegisterService(&service);
  const int message_bytes = static_cast<int>(limits.message_bytes);
  builder.SetMaxReceiveMessageSize(message_bytes);
  builder.SetMaxSendMessageSize(message_bytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit to our own
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kClientPingsMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  return builder.BuildAndStart();  // without a port: connections come from our own acceptors
}

/// What there is to say beside it (no compiler, no usable cache directory) core/compile has said.
void log_start(const ServerState& state, const ServerAddresses& at) {
  const ToolchainInfo& toolchain = state.engine->kernels().toolchain();
  const ArtifactStore& store = state.engine->kernels().store();
  log(LogLevel::kInfo, "started",
      {{"grpc", at.grpc},
       {"unix", at.unix_path},
       {"metrics", at.metrics},
       {"version", UOPD_VERSION},
       {"cpu", toolchain.cpu},
       {"compiler", toolchain.available ? toolchain.version : "none"},
       {"cache_dir", store.directory()},
       {"threads", state.engine->threads()}});
  for (const std::string& address : {at.grpc, at.metrics})
    if (!address.empty() && !is_loopback(address))
      log(LogLevel::kWarning, "reachable_from_outside", {{"address", address}, {"problem", "nobody is authenticated"}});
}

}  // namespace

struct Server::Impl {
  // In order of need: what stands later uses what stands before, and goes first.
  std::unique_ptr<ServerState> state;
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> grpc;
  Background background;
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::unique_ptr<MetricsEndpoint> metrics;
  ServerAddresses addresses;

  /// Binds what was asked for; nothing is accepted yet.
  Status open_sockets(const ServerOptions& options) {
    if (options.listen != "none") {
      StatusOr<ListeningSocket> socket = listen_tcp(options.listen);
      if (!socket.ok()) return socket.status();
      addresses.grpc = socket->address;
      acceptors.push_back(std::make_unique<Acceptor>(background, *std::move(socket)));
    }
    if (!options.unix_path.empty()) {
      StatusOr<ListeningSocket> socket = listen_unix(options.unix_path);
      if (!socket.ok()) return socket.status();
      addresses.unix_path = socket->address;
      acceptors.push_back(std::make_unique<Acceptor>(background, *std::move(socket)));
    }
    if (acceptors.empty()) return invalid_argument("nothing to listen on: --listen is none; give --unix a path");
    return ok_status();
  }

  void set_health(bool serving) { grpc->GetHealthCheckService()->SetServingStatus(serving); }

  void stop(std::chrono::milliseconds patience) {
    acceptors.clear();
    if (!addresses.unix_path.empty()) ::unlink(addresses.unix_path.c_str());
    addresses.unix_path.clear();
    if (grpc) grpc->Shutdown(std::chrono::system_clock::now() + patience);
  }

  ~Impl() { stop(std::chrono::milliseconds(0)); }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

StatusOr<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  if (const Status s = impl->open_sockets(options); !s.ok()) return s;
  StatusOr<std::unique_ptr<MetricsEndpoint>> metrics = MetricsEndpoint::open(options.metrics);
  if (!metrics.ok()) return metrics.status();
  impl->metrics = *std::move(metrics);
  impl->addresses.metrics = impl->metrics->address();

  StatusOr<std::unique_ptr<ServerState>> state = ServerState::create(options);
  if (!state.ok()) return state.status();
  impl->state = *std::move(state);
  impl->metrics->serve(*impl->state);
  impl->service = std::make_unique<Service>(*impl->state);
  impl->grpc = build_grpc(*impl->service, impl->state->limits);
  if (!impl->grpc) return error(StatusCode::kInternal, "gRPC did not start; its log lines say why");

  ServerState& s = *impl->state;
  impl->background.every(std::chrono::milliseconds(options.lease_seconds * 1000 / kSweepsOfLease), [&s] {
    if (const std::size_t ended = s.sessions.sweep()) log(LogLevel::kInfo, "sessions_ended", {{"sessions", ended}});
  });
  impl->background.every(std::chrono::milliseconds(options.stream_idle_seconds * 1000 / kSweepsOfLease), [&s] {
    if (const std::size_t n = s.streams.sweep()) log(LogLevel::kInfo, "idle_streams_cancelled", {{"streams", n}});
  });
  impl->grpc->GetHealthCheckService()->SetServingStatus(uopd::v1::Uopd::service_full_name(), true);
  impl->set_health(true);
  for (const auto& acceptor : impl->acceptors)
    acceptor->start([grpc = impl->grpc.get()](int fd) { grpc::AddInsecureChannelFromFd(grpc, fd); });

  log_start(s, impl->addresses);
  if (!options.ready_file.empty())
    if (const Status written = write_ready_file(options.ready_file, impl->addresses); !written.ok()) return written;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

const ServerAddresses& Server::addresses() const {
  return impl_->addresses;
}

bool Server::drain() {
  AdmissionGate& gate = impl_->state->gate;
  const std::int64_t seconds = impl_->state->options.drain_seconds;
  log(LogLevel::kInfo, "draining", {{"calls", gate.inside()}, {"seconds_at_most", seconds}});
  impl_->set_health(false);
  gate.close();
  const bool all = gate.wait_until_empty(std::chrono::seconds(seconds));
  if (!all) log(LogLevel::kWarning, "drain_incomplete", {{"calls", gate.inside()}, {"effect", "they are cancelled"}});
  // Once gRPC shuts down it breaks off what still arrives; until clients have noticed they get our UNAVAILABLE.
  if (all) gate.wait_until_quiet(kQuiet, kQuietLimit);
  impl_->stop(std::chrono::milliseconds(0));
  log(LogLevel::kInfo, "stopped");
  return all;
}

}  // namespace uop
