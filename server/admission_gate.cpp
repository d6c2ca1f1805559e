#include "server/admission_gate.h"

#include <thread>

namespace uop {

StatusOr<AdmissionGate::Pass> AdmissionGate::enter(bool even_closed) {
  const std::lock_guard lock(mutex_);
  if (closed_ && !even_closed) {
    ++refused_;
    return error(StatusCode::kUnavailable,
                 "the server is draining before it stops; retry with back-off, on another server if there is one");
  }
  ++inside_;
  return Pass(*this);
}

void AdmissionGate::leave() {
  const std::lock_guard lock(mutex_);
  if (--inside_ == 0) empty_.notify_all();
}

void AdmissionGate::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool AdmissionGate::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool AdmissionGate::wait_until_empty(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, limit, [this] { return inside_ == 0; });
}

void AdmissionGate::wait_until_quiet(std::chrono::milliseconds quiet, std::chrono::milliseconds limit) const {
  const auto refused = [this] {
    const std::lock_guard lock(mutex_);
    return refused_;
  };
  std::size_t before = 0;
  std::chrono::milliseconds waited{0};
  do {
    before = refused();
    std::this_thread::sleep_for(quiet);
    waited += quiet;
  } while (refused() != before && waited < limit);
}

std::size_t AdmissionGate::inside() const {
  const std::lock_guard lock(mutex_);
  return inside_;
}

}  // namespace uop
