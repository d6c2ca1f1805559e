// A bounded queue in front of some threads: where compiles and runs wait, so that no gRPC thread ever computes.
//
// WorkQueue::submit is what others call.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "core/support/cancel.h"
#include "core/support/status.h"

namespace uop {

class WorkQueue {
 public:
  using Waited = std::chrono::nanoseconds;
  /// `status` is not OK where the work was cancelled, or its deadline passed, before its turn.
  using Work = std::function<void(const Status& status, Waited waited)>;

  /// `what` names the queue in messages ("run"). At most `limit` pieces of work wait.
  WorkQueue(std::string what, int threads, std::size_t limit);
  /// Waits for all that was submitted.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Ensures that `work` is called exactly once if the result is OK, never otherwise: in its turn on a thread of the
  /// queue, or, when `cancel` is stopped before, at once in the thread that stops it, or in this one if it was stopped
  /// already (its place is then free again). It must not throw. Errors: RESOURCE_EXHAUSTED where the queue is full.
  Status submit(const Cancel& cancel, Work work);

  std::size_t waiting() const;

 private:
  struct Job;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
