// One build per key at a time within this process: callers that ask for a key while it is built wait for that build,
// and share what comes of it. A refusal is shared like a value: sixteen callers of a kernel that does not compile cost
// one compiler run, and not one after the other.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/support/cancel.h"
#include "core/support/digest.h"
#include "core/support/status.h"

namespace uop {

template <class Value>
class SingleFlight {
 public:
  /// What `build` returned, value or error, here or in the call that it joined (`joined` then becomes true). Only what
  /// befell the builder alone is not shared: where it was cancelled, met its deadline or threw, the next waiter builds.
  /// A waiter that is itself cancelled leaves at once. No lock is held during `build`, which may throw.
  StatusOr<Value> run(const Digest& key, const Cancel& cancel, bool& joined,
                      const std::function<StatusOr<Value>()>& build) {
    std::unique_lock lock(mutex_);
    while (true) {
      auto& slot = flights_[key];
      if (!slot) {
        slot = std::make_shared<Flight>();
        const Landing landing{*this, key, slot};
        lock.unlock();
        StatusOr<Value> result = build();
        if (concerns_all(result.status())) landing.flight->result = result;  // published by the landing's lock
        joined = false;
        return result;
      }
      const std::shared_ptr<Flight> flight = slot;
      const auto landed = [&] { return flight->landed; };
      if (cancel.deadline)
        flight->changed.wait_until(lock, cancel.token, *cancel.deadline, landed);
      else
        flight->changed.wait(lock, cancel.token, landed);
      if (flight->landed && flight->result) {
        joined = true;
        return *flight->result;
      }
      if (Status status = cancel.status(); !status.ok()) return status;
    }
  }

 private:
  struct Flight {
    std::condition_variable_any changed;
    bool landed = false;
    std::optional<StatusOr<Value>> result;  // nothing: the builder left without one
  };

  static bool concerns_all(const Status& status) {
    return status.code() != StatusCode::kCancelled && status.code() != StatusCode::kDeadlineExceeded;
  }

  /// Ends a flight however its build ends.
  struct Landing {
    SingleFlight& owner;
    const Digest key;
    const std::shared_ptr<Flight> flight;
    ~Landing() {
      const std::lock_guard lock(owner.mutex_);
      flight->landed = true;
      owner.flights_.erase(key);
      flight->changed.notify_all();
    }
  };

  std::mutex mutex_;
  std::unordered_map<Digest, std::shared_ptr<Flight>, DigestHash> flights_;
};

}  // namespace uop
