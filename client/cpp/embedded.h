// The embedded device: the server's engine inside this process. Shares its cache directory with every server and
// process of the user, so what one compiled none compiles again. The one place of the client that knows the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cpp/device.h"

namespace uop {

/// Errors: INVALID_ARGUMENT for options that do not fit this machine (a compiler that does not exist, a cpu level above
/// the machine's). Buffers may outlive the device.
StatusOr<std::shared_ptr<Device>> embedded(const EngineOptions& options = {});

/// A file of the cache directory.
struct CacheEntry {
  std::string kind;  // "kernel" or "plan"
  std::string key;   // 64 hex digits
  std::uint64_t bytes = 0;
  std::int64_t last_used_ns = 0;  // of the system clock
};

struct CacheContent {
  std::string directory;
  std::string problem;  // why the directory is not in use, or ""
  std::vector<CacheEntry> entries;
};

struct CacheCheck {
  std::uint64_t checked = 0;
  std::vector<std::string> bad;  // files that were damaged; they are removed
};

/// The cache directory of `options` (`cache_dir`, `cache_bytes`), without an engine. Safe beside running servers.
CacheContent cache_content(const EngineOptions& options);
/// Errors: FAILED_PRECONDITION where the directory is not usable, with the reason.
StatusOr<CacheCheck> verify_cache(const EngineOptions& options);
/// Removes all entries; returns how many.
StatusOr<std::uint64_t> clear_cache(const EngineOptions& options);

}  // namespace uop
