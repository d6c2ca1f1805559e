// Ends streams whose other side does nothing: an upload without bytes, a download that is not read. Such a stream would
// hold its memory for ever, since its connection is alive.
#pragma once

#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <unordered_set>

namespace uop {

class IdleStreams {
 public:
  /// One watched stream; the context must outlive it.
  class Watch {
   public:
    Watch(IdleStreams& all, grpc::CallbackServerContext& context);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    /// Something moved.
    void touch() { idle_sweeps_ = 0; }

   private:
    friend class IdleStreams;
    IdleStreams& all_;
    grpc::CallbackServerContext& context_;
    std::atomic<int> idle_sweeps_ = 0;
  };

  /// A stream is cancelled by the sweep after the `sweeps` that found it idle: it has had at least so many times from
  /// sweep to sweep, however soon the first came.
  explicit IdleStreams(int sweeps) : sweeps_(sweeps) {}

  /// Returns how many streams it cancelled. As in SessionTable, idleness is counted, not read from a clock.
  std::size_t sweep();

 private:
  const int sweeps_;
  std::mutex mutex_;
  std::unordered_set<Watch*> watched_;
};

}  // namespace uop
