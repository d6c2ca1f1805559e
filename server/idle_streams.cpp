#include "server/idle_streams.h"

namespace uop {

IdleStreams::Watch::Watch(IdleStreams& all, grpc::CallbackServerContext& context) : all_(all), context_(context) {
  const std::lock_guard lock(all_.mutex_);
  all_.watched_.insert(this);
}

IdleStreams::Watch::~Watch() {
  const std::lock_guard lock(all_.mutex_);
  all_.watched_.erase(this);
}

std::size_t IdleStreams::sweep() {
  std::size_t cancelled = 0;
  const std::lock_guard lock(mutex_);
  for (Watch* watch : watched_) {
    if (watch->idle_sweeps_.fetch_add(1) != sweeps_) continue;
    watch->context_.TryCancel();
    ++cancelled;
  }
  return cancelled;
}

}  // namespace uop
