#include "core/compile/kernel_cache.h"

namespace uop {

LoadedKernelPtr KernelCache::find(const Digest& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return *found->second;
}

void KernelCache::insert(LoadedKernelPtr kernel) {
  LoadedKernelPtr dropped;  // unmapped, if at all, without the lock
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(kernel->key())) return;
  recent_.push_front(std::move(kernel));
  by_key_[recent_.front()->key()] = recent_.begin();
  if (recent_.size() <= most_) return;
  dropped = std::move(recent_.back());
  recent_.pop_back();
  by_key_.erase(dropped->key());
}

}  // namespace uop
