// The kernels that are kept loaded, least recently used ones going first. Dropping one gives up the library's own
// reference only: who runs it keeps it.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "core/compile/kernel_library.h"

namespace uop {

class KernelCache {
 public:
  explicit KernelCache(std::size_t most) : most_(most) {}

  /// The kernel, or null; it becomes the most recently used.
  LoadedKernelPtr find(const Digest& key);
  void insert(LoadedKernelPtr kernel);

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::list<LoadedKernelPtr> recent_;  // most recently used first
  std::unordered_map<Digest, std::list<LoadedKernelPtr>::iterator, DigestHash> by_key_;
};

}  // namespace uop
