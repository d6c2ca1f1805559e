// The HTTP endpoint that Prometheus scrapes.
#pragma once

#include <memory>
#include <string>

#include "core/support/status.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace uop {

struct ServerState;

class MetricsEndpoint {
 public:
  /// Listens on host:port; "none": does nothing. Errors: UNAVAILABLE that names the address.
  static StatusOr<std::unique_ptr<MetricsEndpoint>> open(const std::string& address);
  ~MetricsEndpoint();

  /// Answers /metrics from now on. `state` must outlive this.
  void serve(const ServerState& state);

  /// "127.0.0.1:9471", or "" for none.
  const std::string& address() const { return address_; }

 private:
  MetricsEndpoint();
  std::string address_;
  std::shared_ptr<prometheus::Collectable> engine_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace uop
