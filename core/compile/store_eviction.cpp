#include "core/compile/store_eviction.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace uop {
namespace {

namespace fs = std::filesystem;

std::optional<ArtifactInfo> entry_info(const fs::path& path) {
  const std::string extension = path.extension();
  if (extension != ".kernel" && extension != ".plan") return std::nullopt;
  const auto key = Digest::from_hex(path.stem().string());
  struct stat info {};
  if (!key || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return ArtifactInfo{extension == ".kernel" ? ArtifactKind::kKernel : ArtifactKind::kPlan, *key,
                      static_cast<std::uint64_t>(info.st_size),
                      info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
}

}  // namespace

std::vector<ArtifactInfo> scan_entries(const std::string& directory) {
  std::vector<ArtifactInfo> found;
  std::error_code code;  // what vanishes during the scan is simply not there
  for (fs::directory_iterator folder(directory + "/v1", code), end; !code && folder != end; folder.increment(code)) {
    if (folder->path().filename().string().size() != 2) continue;
    std::error_code inner;
    for (fs::directory_iterator file(folder->path(), inner), last; !inner && file != last; file.increment(inner))
      if (const auto info = entry_info(file->path())) found.push_back(*info);
  }
  return found;
}

StoreEviction::StoreEviction(std::uint64_t max_bytes, std::function<std::vector<ArtifactInfo>()> scan,
                             std::function<bool(const ArtifactInfo&)> remove)
    : max_bytes_(max_bytes), scan_(std::move(scan)), remove_(std::move(remove)) {}

void StoreEviction::look() {
  const std::lock_guard lock(mutex_);
  look_locked();
}

void StoreEviction::look_locked() {
  std::vector<ArtifactInfo> entries = scan_();
  usage_ = {0, entries.size()};
  for (const ArtifactInfo& e : entries) usage_.bytes += e.bytes;
  if (usage_.bytes > max_bytes_) {
    std::sort(entries.begin(), entries.end(),
              [](const ArtifactInfo& a, const ArtifactInfo& b) { return a.last_used_ns < b.last_used_ns; });
    // A little below the bound, so that a full store does not evict at every write.
    const std::uint64_t target = max_bytes_ - max_bytes_ / 16;
    for (const ArtifactInfo& e : entries) {
      if (usage_.bytes <= target) break;
      if (remove_(e)) ++evictions_;
      usage_.bytes -= e.bytes;  // if it could not be removed, somebody else did
      --usage_.entries;
    }
  }
  const std::uint64_t room = usage_.bytes < max_bytes_ ? max_bytes_ - usage_.bytes : 0;
  until_look_ = std::max(room / 4, max_bytes_ / 64);
}

void StoreEviction::account(std::uint64_t bytes, bool wrote) {
  const std::lock_guard lock(mutex_);
  if (!wrote) {
    usage_.bytes -= std::min(bytes, usage_.bytes);
    usage_.entries -= std::min<std::uint64_t>(1, usage_.entries);
    return;
  }
  usage_.bytes += bytes;
  ++usage_.entries;
  if (usage_.bytes > max_bytes_ || bytes > until_look_)
    look_locked();
  else
    until_look_ -= bytes;
}

StoreEviction::Usage StoreEviction::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

std::uint64_t StoreEviction::evictions() const {
  const std::lock_guard lock(mutex_);
  return evictions_;
}

}  // namespace uop
