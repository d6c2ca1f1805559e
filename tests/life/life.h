// The life of an engine: thousands of graphs, each a new structure, from several callers, with caches that are much
// too small, so that plans and kernels come and go while others run. Every result is checked.
//
// `Life::live` is what others call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/engine.h"

namespace uop {

struct LifeSettings {
  std::string cache_dir;
  std::int64_t graphs = 0;       // how many there will be; all are of unlike structure
  std::int64_t fresh_every = 0;  // each such graph has a kernel that no other has, so that the C compiler runs
  std::int64_t callers = 3;
  std::int64_t loaded_kernels = 8;
  std::int64_t plan_cache_bytes = 64 << 10;
  std::int64_t cache_bytes = 16 << 20;
};

class Life {
 public:
  /// Errors: the engine's.
  static StatusOr<std::unique_ptr<Life>> begin(const LifeSettings& settings);
  virtual ~Life() = default;

  /// The graphs from `first` up to but without `end`, each compiled and run once, and some run again long after. When
  /// it returns nothing is under way. Errors: the first of an engine's that should not be; DATA_LOSS for a wrong
  /// result.
  virtual Status live(std::int64_t first, std::int64_t end) = 0;

  virtual EngineStats stats() const = 0;
  /// Distinct kernels that the graphs share; each is compiled once.
  virtual std::int64_t shared_kernels() const = 0;
};

}  // namespace uop
