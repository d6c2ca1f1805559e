#include "server/work_queue.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace uop {

/// A piece of work and its place in the queue. Whoever takes it out, a thread or the one that cancels it, calls it, so
/// that nothing of it is left behind.
struct WorkQueue::Job {
  const Cancel cancel;
  const Work work;
  const Clock::time_point submitted = Clock::now();
  std::optional<std::list<std::shared_ptr<Job>>::iterator> place = {};  // while it waits
  bool stopped = false;                                                 // before it had a place
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};

  void call() const { work(cancel.status(), std::max(Waited{0}, Waited(Clock::now() - submitted))); }
};

struct WorkQueue::Impl {
  Impl(std::string w, std::size_t l) : what(std::move(w)), limit(l) {}

  enum class Added { kWaits, kStopped, kFull };

  /// Once it waits it may be done, and whatever belongs to it gone, by the time this returns.
  Added add(const std::shared_ptr<Job>& job) {
    const std::lock_guard lock(mutex);
    if (job->stopped) return Added::kStopped;
    if (jobs.size() >= limit) return Added::kFull;
    job->place = jobs.insert(jobs.end(), job);
    wake.notify_one();
    return Added::kWaits;
  }

  /// For who stops it. Nothing where a thread has taken it, or it has no place yet.
  std::shared_ptr<Job> take(Job& job) {
    const std::lock_guard lock(mutex);
    if (job.place) return take_out(*job.place);
    job.stopped = true;
    return nullptr;
  }

  /// The next one; nothing once the queue closes and is empty.
  std::shared_ptr<Job> next() {
    std::unique_lock lock(mutex);
    wake.wait(lock, [this] { return closing || !jobs.empty(); });
    return jobs.empty() ? nullptr : take_out(jobs.begin());
  }

  void close() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  std::shared_ptr<Job> take_out(std::list<std::shared_ptr<Job>>::iterator place) {
    std::shared_ptr<Job> job = std::move(*place);
    jobs.erase(place);
    job->place.reset();
    return job;
  }

  const std::string what;
  const std::size_t limit;
  std::mutex mutex;
  std::condition_variable wake;
  std::list<std::shared_ptr<Job>> jobs;
  bool closing = false;
  std::vector<std::thread> threads;
};

WorkQueue::WorkQueue(std::string what, int threads, std::size_t limit)
    : impl_(std::make_unique<Impl>(std::move(what), limit)) {
  for (int t = 0; t < threads; ++t)
    impl_->threads.emplace_back([q = impl_.get()] {
      while (const std::shared_ptr<Job> job = q->next()) job->call();
    });
}

WorkQueue::~WorkQueue() {
  impl_->close();
}

Status WorkQueue::submit(const Cancel& cancel, Work work) {
  const std::shared_ptr<Job> job(new Job{cancel, std::move(work)});
  job->on_stop.emplace(cancel.token, [q = impl_.get(), j = job.get()] {
    if (const std::shared_ptr<Job> mine = q->take(*j)) mine->call();
  });
  switch (impl_->add(job)) {
    case Impl::Added::kWaits: return ok_status();
    case Impl::Added::kStopped: job->call(); return ok_status();
    case Impl::Added::kFull: break;
  }
  return error(StatusCode::kResourceExhausted,
               "{} calls wait for a {} already, which is the limit; retry with back-off, or on another server",
               impl_->limit, impl_->what);
}

std::size_t WorkQueue::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->jobs.size();
}

}  // namespace uop
