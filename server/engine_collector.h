// Metrics that are read when they are asked for: the engine's counters, the kernel table, sessions and the pool.
#pragma once

#include <prometheus/collectable.h>

#include "server/server_state.h"

namespace uop {

class EngineCollector : public prometheus::Collectable {
 public:
  /// `state` must outlive it.
  explicit EngineCollector(const ServerState& state) : state_(state) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ServerState& state_;
};

}  // namespace uop
