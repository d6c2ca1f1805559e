// Sessions and their buffers: who holds which memory of the pool, and for how long.
//
// A session lives as long as calls come in, and a lease longer. Idleness is counted in sweeps, not read from a clock,
// so that a clock that jumps, or a machine that slept, never ends all sessions at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/buffer_pool.h"
#include "core/ir/plan.h"
#include "core/support/status.h"

namespace uop {

struct StoredBuffer {
  BufferPtr memory;
  TensorSpec tensor{};
};

/// Most sessions: each costs a few hundred bytes, and a client needs one.
inline constexpr std::size_t kMaxSessions = 65'536;
/// Most buffers of a session: the parameters of the largest models are some ten thousand tensors.
inline constexpr std::size_t kMaxBuffers = 1'000'000;
/// Sweeps without a call after which a session ends; the sweeper comes kSweepsOfLease times a lease.
inline constexpr int kSweepsOfLease = 8;

/// One client's buffers. Any number of calls may use it at a time.
class Session {
 public:
  /// The id of the buffer from now on. Errors: RESOURCE_EXHAUSTED over kMaxBuffers.
  StatusOr<std::string> add(StoredBuffer buffer);
  /// Errors: NOT_FOUND. What is returned stays valid, whatever happens to the id.
  StatusOr<StoredBuffer> find(const std::string& id) const;
  /// False where there is no such buffer.
  bool free(const std::string& id);
  std::vector<std::pair<std::string, StoredBuffer>> list() const;
  std::size_t size() const;

 private:
  friend class SessionTable;
  friend class SessionPin;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, StoredBuffer> buffers_;
  std::atomic<int> pins_ = 0;
  std::atomic<int> idle_sweeps_ = 0;
};

/// Keeps a session while a call uses it; its lease begins anew when the last pin goes.
class SessionPin {
 public:
  explicit SessionPin(std::shared_ptr<Session> session);
  SessionPin(SessionPin&&) = default;
  SessionPin& operator=(SessionPin&& other) noexcept {
    session_.swap(other.session_);
    return *this;
  }
  ~SessionPin();
  Session& operator*() const { return *session_; }
  Session* operator->() const { return session_.get(); }

 private:
  std::shared_ptr<Session> session_;
};

class SessionTable {
 public:
  /// A new session's id. Errors: RESOURCE_EXHAUSTED over kMaxSessions.
  StatusOr<std::string> open();
  /// Nothing where the id is not known (any more).
  std::optional<SessionPin> pin(const std::string& id);
  /// Ends the sessions that kSweepsOfLease sweeps before this one found idle, so that none ends before its lease;
  /// returns how many.
  std::size_t sweep();

  std::size_t sessions() const;
  std::size_t buffers() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Session>> sessions_;
};

}  // namespace uop
