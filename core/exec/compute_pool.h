// The compute threads of a process, shared by all plans that run.
//
// ComputePool::parallel_for is what others call.
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

  /// Calls `slice(begin, end)` for parts of `grain` that together are 0..n, from the calling thread and the pool's.
  /// Which thread runs which part must not matter to the result; the parts are the same for any number of threads.
  /// Returns when all have run, or, once `cancel` says so, when those that had begun have. A slice that throws makes
  /// it INTERNAL. May be called by many threads at a time, and from within a slice: a caller never waits for a thread
  /// of the pool to be free, it then does the work itself.
  virtual Status parallel_for(std::int64_t n, std::int64_t grain, const Cancel& cancel,
                              const std::function<void(std::int64_t, std::int64_t)>& slice) = 0;

  /// How many threads may compute now, the caller's among them.
  virtual int threads() const = 0;
};

}  // namespace uop
