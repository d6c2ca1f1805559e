#include "core/exec/compute_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/support/cpu_quota.h"

namespace uop {
namespace {

constexpr std::chrono::seconds kReadQuotaEvery{2};  // reading takes up to a millisecond

using Slice = std::function<void(std::int64_t, std::int64_t)>;

/// One parallel_for: the caller and its helpers claim slices until none is left. Helpers hold it by shared_ptr, for
/// one may come when the call has long returned; it then finds nothing to claim, and touches nothing of the caller's.
class Job {
 public:
  Job(std::int64_t n, std::int64_t grain, const Cancel& cancel, const Slice& slice)
      : n_(n), grain_(grain), slices_((n - 1) / grain + 1), cancel_(cancel), slice_(slice) {}

  std::int64_t slices() const { return slices_; }

  /// Runs slices until none is left. Counted as active before it claims one: see wait().
  void work() {
    ++active_;
    for (std::int64_t i; (i = next_++) < slices_;) {
      if (!cancel_.status().ok()) {
        cut_short_ = true;
        next_ = slices_;
      } else {
        run(i);
      }
    }
    if (--active_ == 0) active_.notify_all();
  }

  /// How it went, once all slices that had begun have ended. For the caller, after its own work(): then all is
  /// claimed, and who is still active runs a slice.
  Status wait() {
    for (int running; (running = active_) != 0;) active_.wait(running);
    if (failed_) return error(StatusCode::kInternal, "a part of a parallel loop failed: {}", failure_);
    return cut_short_ ? cancel_.status() : ok_status();
  }

 private:
  void run(std::int64_t i) {
    try {
      slice_(i * grain_, i + 1 == slices_ ? n_ : (i + 1) * grain_);
    } catch (const std::exception& e) {
      fail(e.what());
    } catch (...) {
      fail("an exception of unknown type");
    }
  }

  void fail(const char* what) {
    if (!failed_.exchange(true)) failure_ = what;
    next_ = slices_;
  }

  const std::int64_t n_;
  const std::int64_t grain_;
  const std::int64_t slices_;
  const Cancel& cancel_;
  const Slice& slice_;
  std::atomic<std::int64_t> next_ = 0;  // the first slice that nobody has claimed
  std::atomic<int> active_ = 0;
  std::atomic<bool> cut_short_ = false;
  std::atomic<bool> failed_ = false;
  std::string failure_;  // written by the one that set failed_
};

class AsioComputePool final : public ComputePool {
 public:
  explicit AsioComputePool(int threads) : fixed_(threads) {}
  ~AsioComputePool() override { pool_.stop(); }  // then ~jthread joins

  Status parallel_for(std::int64_t n, std::int64_t grain, const Cancel& cancel, const Slice& slice) override {
    if (n <= 0) return ok_status();
    grain = std::clamp<std::int64_t>(grain, 1, n);
    const auto job = std::make_shared<Job>(n, grain, cancel, slice);
    for (int helpers = borrow(job->slices() - 1); helpers > 0; --helpers)
      boost::asio::post(pool_, [this, job] {
        job->work();
        give_back();
      });
    job->work();
    return job->wait();
  }

  int threads() const override {
    if (fixed_ > 0) return fixed_;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep due = next_reading_;
    if (now >= due && next_reading_.compare_exchange_strong(due, now + Clock::duration(kReadQuotaEvery).count()))
      quota_ = available_cpus();
    return quota_;
  }

 private:
  /// How many helpers a call may have now, at most `wanted`. All calls together have threads() - 1, so that a busy
  /// pool means that a caller does its work alone, not that it waits. Starts the threads that are missing.
  int borrow(std::int64_t wanted) {
    if (wanted <= 0) return 0;
    const int allowed = threads() - 1;
    const std::lock_guard lock(mutex_);
    try {
      while (std::ssize(workers_) < std::min<std::int64_t>(allowed, lent_ + wanted))
        workers_.emplace_back([this] {
          pthread_setname_np(pthread_self(), "uop-compute");
          pool_.attach();
        });
    } catch (const std::system_error&) {
      // No more threads to be had: those that run are enough.
    }
    const std::int64_t spare = std::min<std::int64_t>(allowed, std::ssize(workers_)) - lent_;
    const int got = static_cast<int>(std::clamp<std::int64_t>(spare, 0, wanted));
    lent_ += got;
    return got;
  }

  void give_back() {
    const std::lock_guard lock(mutex_);
    --lent_;
  }

  const int fixed_;  // 0: by the quota
  mutable std::atomic<int> quota_ = available_cpus();
  mutable std::atomic<Clock::rep> next_reading_ = 0;
  boost::asio::thread_pool pool_{0};  // threads are added by borrow()
  std::mutex mutex_;
  int lent_ = 0;  // helpers that are queued or running
  std::vector<std::jthread> workers_;
};

}  // namespace

std::unique_ptr<ComputePool> ComputePool::create(int threads) {
  return std::make_unique<AsioComputePool>(threads);
}

}  // namespace uop
