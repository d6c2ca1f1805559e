// Who is inside, and whether anybody may still come in: what a drain closes and then waits for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "core/support/status.h"

namespace uop {

class AdmissionGate {
 public:
  /// Being inside; given back when it goes.
  class Pass {
   public:
    Pass() = default;
    explicit Pass(AdmissionGate& gate) : gate_(&gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      return *this;
    }
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    AdmissionGate* gate_ = nullptr;
  };

  /// Errors: UNAVAILABLE once closed. `even_closed`: let in all the same (a question about the state).
  StatusOr<Pass> enter(bool even_closed = false);

  void close();
  bool closed() const;

  /// True when nobody is inside; false when `limit` passed before.
  bool wait_until_empty(std::chrono::nanoseconds limit);

  /// Returns when nobody was refused for `quiet`, after `limit` at the latest.
  void wait_until_quiet(std::chrono::milliseconds quiet, std::chrono::milliseconds limit) const;

  std::size_t inside() const;

 private:
  void leave();

  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
  std::size_t refused_ = 0;
  bool closed_ = false;
};

}  // namespace uop
