// Bounds how many compilers run at a time in this process, whoever asks for them.
#pragma once

#include <condition_variable>
#include <mutex>

#include "core/support/cancel.h"
#include "core/support/status.h"

namespace uop {

class CompileSlots {
 public:
  explicit CompileSlots(int slots) : free_(slots) {}

  /// Held during a compiler run.
  class Slot {
   public:
    explicit Slot(CompileSlots& owner) : owner_(&owner) {}
    Slot(Slot&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (owner_ != nullptr) owner_->release();
    }

   private:
    CompileSlots* owner_;
  };

  /// Waits for a free slot. Errors: CANCELLED, DEADLINE_EXCEEDED.
  StatusOr<Slot> acquire(const Cancel& cancel) {
    std::unique_lock lock(mutex_);
    const auto some_free = [&] { return free_ > 0; };
    if (cancel.deadline)
      changed_.wait_until(lock, cancel.token, *cancel.deadline, some_free);
    else
      changed_.wait(lock, cancel.token, some_free);
    if (Status status = cancel.status(); !status.ok()) return status;
    --free_;
    return Slot(*this);
  }

 private:
  void release() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  int free_;
};

}  // namespace uop
