// Metrics that are counted as things happen. What the engine counts itself is read at each scrape: engine_collector.h.
#pragma once

#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <memory>

#include "core/support/status.h"
#include "server/methods.h"

namespace uop {

/// All series exist from the start, as 0: a first error is then a step that a dashboard can see.
class Metrics {
 public:
  Metrics();

  void rpc(Method method, StatusCode code, std::chrono::nanoseconds time);
  void queued(std::chrono::nanoseconds time);
  /// A compiler run.
  void compiled(std::chrono::nanoseconds time, bool ok);

  std::shared_ptr<prometheus::Collectable> collectable() const { return registry_; }

 private:
  static constexpr std::size_t kCodes = 17;  // OK (0) to UNAUTHENTICATED (16)

  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  std::array<std::array<prometheus::Counter*, kCodes>, kMethodNames.size()> rpcs_{};
  std::array<prometheus::Histogram*, kMethodNames.size()> rpc_seconds_{};
  prometheus::Histogram* queue_seconds_ = nullptr;
  prometheus::Histogram* compile_seconds_ = nullptr;
  prometheus::Counter* compile_failures_ = nullptr;
};

}  // namespace uop
