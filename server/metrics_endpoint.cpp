#include "server/metrics_endpoint.h"

#include <prometheus/exposer.h>

#include "server/engine_collector.h"

namespace uop {

MetricsEndpoint::MetricsEndpoint() = default;
MetricsEndpoint::~MetricsEndpoint() = default;

StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::open(const std::string& address) {
  std::unique_ptr<MetricsEndpoint> endpoint(new MetricsEndpoint());
  if (address == "none") return endpoint;
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    return invalid_argument("--metrics '{}' is no address to listen on; give host:port, as 127.0.0.1:9471, or none",
                            address);
  try {
    endpoint->exposer_ = std::make_unique<prometheus::Exposer>(address);
  } catch (const std::exception& e) {
    return error(
        StatusCode::kUnavailable,
        "cannot listen on {} for metrics: it is taken, or not an address of this machine ({}); stop the server "
        "that listens there, or give --metrics another address (port 0: any that is free), or none",
        address, e.what());
  }
  endpoint->address_ = fmt::format("{}:{}", address.substr(0, colon), endpoint->exposer_->GetListeningPorts().front());
  return endpoint;
}

void MetricsEndpoint::serve(const ServerState& state) {
  if (!exposer_) return;
  engine_ = std::make_shared<EngineCollector>(state);
  exposer_->RegisterCollectable(state.metrics.collectable());
  exposer_->RegisterCollectable(engine_);
}

}  // namespace uop
