// The directory of the store: its layout, who may own it, and whether it can be used right now.
//
//   <directory>/v1/<2 hex>/<64 hex>.kernel, .plan   the entries; names come from digests, never from input
//   <directory>/v1/records/<name>                   small records beside the entries, never evicted
//   <directory>/v1/claims/<64 hex>                  locks of builds that are under way
//   <directory>/v1/tmp/<pid>-<random>/              files in the making, one directory a process
//
// Who may own it is looked at before every use, not only once: a directory may be deleted, replaced or given to
// somebody else while the process runs, and may be right again later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "core/compile/artifact_store.h"
#include "core/compile/locked_directory.h"
#include "core/support/cancel.h"

namespace uop {

/// <directory>/v1/<folder>: where claims and records lie.
std::string store_folder(const std::string& directory, std::string_view folder);

class StoreDirectory {
 public:
  /// Creates what is missing. Never fails: `problem` tells.
  StoreDirectory(std::string directory, std::chrono::milliseconds retry_after);

  const std::string& path() const { return directory_; }
  std::string entry(ArtifactKind kind, const Digest& key) const;

  /// Whether what lies in the directory may be believed: it is this user's and nobody else can write it.
  bool readable();
  /// Whether to try a write now. After a failure: once it has been seen, at most once in every `retry_after`, that a
  /// file as large as the one that failed can be written.
  bool writable();
  /// Puts a synced file of these bytes in place of `path`. False where that failed: counted, and logged once.
  bool put(const std::string& path, std::string_view payload, std::string_view trailer);
  /// This process's own directory for files in the making, or "" while there is a problem.
  std::string scratch() const;

  std::uint64_t errors() const { return errors_; }
  std::string problem() const;

 private:
  // All of these with mutex_ held.
  Status prepare();
  Status claim_scratch();
  Status probe();
  bool trusted();
  bool retry_if_due();
  void fail(const Status& why);
  void recover();

  const std::string directory_;
  const std::chrono::milliseconds retry_after_;
  std::atomic<std::uint64_t> errors_ = 0;
  std::atomic<std::uint64_t> serial_ = 0;  // of the names of files in the making

  mutable std::mutex mutex_;
  bool trusted_ = false;
  std::string problem_;           // "" while all is well
  std::size_t failed_bytes_ = 0;  // of the file that could not be written, while that is the problem
  Clock::time_point retry_at_;    // while there is a problem
  bool announced_ = false;        // whether this problem was logged
  std::string last_announced_;    // the last one that was, and when
  Clock::time_point last_announced_at_;
  LockedDirectory scratch_;
};

}  // namespace uop
