// The compute threads of a process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/support/cancel.h"

namespace uop {

class ComputePool {
 public:
  /// `threads` 0: as many as the CPU quota allows, read again while running.
  static std::unique_ptr<ComputePool> create(int threads);
  virtual ~ComputePool() = default;

  /// Calls `slice(begin, end)` for parts that together are 0..n, from the calling thread and the pool's. Which thread
  /// runs which part does not matter to the result. Returns when all have run, or, once `cancel` says so, when those
  /// that had begun have. Small n, or one thread: a single call. `n` <= 1 calls slice(0, 1) in place.
  virtual Status parallel_for(std::int64_t n, std::int64_t grain, const Cancel& cancel,
                              const std::function<void(std::int64_t, std::int64_t)>& slice) = 0;

  virtual int threads() const = 0;
};

}  // namespace uop
