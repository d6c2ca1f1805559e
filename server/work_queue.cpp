#include "server/work_queue.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>

namespace uop {

struct WorkQueue::Impl {
  Impl(std::string w, int threads, std::size_t l)
      : what(std::move(w)), limit(l), pool(static_cast<std::size_t>(threads)) {}
  const std::string what;
  const std::size_t limit;
  std::atomic<std::size_t> waiting = 0;
  boost::asio::thread_pool pool;
};

/// A piece of work in the queue. Whoever takes it first, a thread of the pool or the one that cancels, calls it.
struct WorkQueue::Job {
  Job(Impl& q, Cancel c, Work w) : queue(q), cancel(std::move(c)), work(std::move(w)) {}

  void run_once() {
    if (taken.exchange(true)) return;
    queue.waiting.fetch_sub(1);
    const Work mine = std::move(work);  // what it holds goes with the call, not with the last place in the pool's queue
    mine(cancel.status(), std::max(Waited{0}, Waited(Clock::now() - submitted)));
  }

  Impl& queue;
  const Cancel cancel;
  Work work;
  const Clock::time_point submitted = Clock::now();
  std::atomic<bool> taken = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

WorkQueue::WorkQueue(std::string what, int threads, std::size_t limit)
    : impl_(std::make_unique<Impl>(std::move(what), threads, limit)) {}

WorkQueue::~WorkQueue() {
  impl_->pool.join();
}

Status WorkQueue::submit(const Cancel& cancel, Work work) {
  const auto job = std::make_shared<Job>(*impl_, cancel, std::move(work));
  if (impl_->waiting.fetch_add(1) >= impl_->limit) {
    impl_->waiting.fetch_sub(1);
    return error(StatusCode::kResourceExhausted,
                 "{} calls wait for a {} already, which is the limit; retry with back-off, or on another server",
                 impl_->limit, impl_->what);
  }
  job->on_stop.emplace(cancel.token, [j = job.get()] { j->run_once(); });
  boost::asio::post(impl_->pool, [job] { job->run_once(); });
  return ok_status();
}

std::size_t WorkQueue::waiting() const {
  return impl_->waiting;
}

}  // namespace uop
