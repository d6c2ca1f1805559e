// The cache directory: immutable files, one per artifact, safe for any number of processes.
//
// A file is the payload followed by a trailer (store_file.h), so that a .so can be mapped as it lies. It is written to
// a temporary name, synced and renamed; verified before every use; bad bytes are a miss, and the file is removed. The
// least recently used entries go when the directory grows over its bound; use is recorded in the file's mtime, set by
// the clock of the file system, so that machines which share a directory agree on the order.
// A directory that is missing, full, read-only or writable by others never fails a request: the store then answers
// with misses, logs one line, counts an error, and tries again later.
//
// ArtifactStore::open is what others call; store_directory.h shows the layout.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/digest.h"
#include "core/support/status.h"

namespace uop {

enum class ArtifactKind : std::uint8_t { kKernel = 1, kPlan = 2 };

struct ArtifactInfo {
  ArtifactKind kind;
  Digest key;
  std::uint64_t bytes;  // of the file
  std::int64_t last_used_ns;
};

struct ArtifactStoreStats {
  std::uint64_t hits, misses, writes, evictions, bad_entries, errors, bytes, entries;
};

/// The outcome of `verify`: entries read, and the names of those that were bad (and were removed).
struct VerifyReport {
  std::uint64_t checked = 0;
  std::vector<std::string> bad;
};

/// What only tests change.
struct StoreTiming {
  std::chrono::milliseconds retry_after{3000};  // after a failure, until the directory is tried again
  std::chrono::seconds use_granularity{60};     // a use is recorded at most once in this time: reads stay cheap
};

class ArtifactStore {
 public:
  /// Creates the directory (0700) where missing. Never fails: an unusable directory is reported by `problem()`.
  static std::unique_ptr<ArtifactStore> open(const std::string& directory, std::uint64_t max_bytes,
                                             StoreTiming timing = {});
  virtual ~ArtifactStore() = default;

  /// The verified payload, or nothing. Marks the entry as used.
  virtual std::optional<std::string> read(ArtifactKind kind, const Digest& key) = 0;

  /// A file descriptor (the caller closes it) of the verified file, for mapping, or nothing.
  virtual std::optional<int> open_verified(ArtifactKind kind, const Digest& key) = 0;

  /// Stores the payload; does nothing where the key is there. False where the directory could not take it, or where
  /// the payload is larger than the bound of the store.
  virtual bool write(ArtifactKind kind, const Digest& key, std::string_view payload) = 0;

  /// Marks the entry as used, as `read` does: for one that is used from memory, so that it does not look idle.
  virtual void touch(ArtifactKind kind, const Digest& key) = 0;

  /// Removes an entry whose bytes are what was written but are of no use to the reader, so that the next write
  /// replaces it. Counts as a bad entry.
  virtual void reject(ArtifactKind kind, const Digest& key) = 0;

  /// Whether there is an entry, sound or not. Neither a hit nor a miss.
  virtual bool contains(ArtifactKind kind, const Digest& key) = 0;

  /// A small file of this name beside the entries, replaced by each write and never evicted. `name` is chosen by the
  /// program, never by input.
  virtual std::optional<std::string> read_record(std::string_view name) = 0;
  virtual bool write_record(std::string_view name, std::string_view payload) = 0;

  /// A private directory for files in the making; it goes with this store. "" while the store has a problem.
  virtual std::string scratch() const = 0;

  virtual std::vector<ArtifactInfo> list() = 0;
  virtual VerifyReport verify() = 0;
  /// Removes all entries; returns how many.
  virtual StatusOr<std::uint64_t> clear() = 0;

  virtual ArtifactStoreStats stats() const = 0;
  virtual const std::string& directory() const = 0;
  /// Why the directory is not in use now, or "".
  virtual std::string problem() const = 0;
};

}  // namespace uop
