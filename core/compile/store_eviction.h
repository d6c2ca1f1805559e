// Keeps the store below its bound, although other processes write to it too.
//
// Each process knows what it has written itself and looks at the directory from time to time: when its own count
// exceeds the bound, and whenever it has written a quarter of the room that the last look showed. Looks are therefore
// rare while there is room, and close together near the bound.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/compile/artifact_store.h"

namespace uop {

/// The entries of the store in `directory`, in no order. Whatever else lies there is passed over.
std::vector<ArtifactInfo> scan_entries(const std::string& directory);

class StoreEviction {
 public:
  struct Usage {
    std::uint64_t bytes = 0, entries = 0;
  };

  /// `scan` lists the entries, `remove` deletes one and says whether it did.
  StoreEviction(std::uint64_t max_bytes, std::function<std::vector<ArtifactInfo>()> scan,
                std::function<bool(const ArtifactInfo&)> remove);

  /// Looks at the directory and removes the least recently used entries if it is over the bound.
  void look();
  /// Counts an entry that was written, or (`wrote` false) removed, and looks where that is due.
  void account(std::uint64_t bytes, bool wrote);

  Usage usage() const;
  std::uint64_t evictions() const;

 private:
  void look_locked();

  const std::uint64_t max_bytes_;
  const std::function<std::vector<ArtifactInfo>()> scan_;
  const std::function<bool(const ArtifactInfo&)> remove_;

  mutable std::mutex mutex_;  // held during a look: nobody gains from two at a time
  Usage usage_;
  std::uint64_t until_look_ = 0;  // bytes that may be written before the next look
  std::uint64_t evictions_ = 0;
};

}  // namespace uop
