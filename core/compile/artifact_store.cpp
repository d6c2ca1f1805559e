#include "core/compile/artifact_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/compile/store_directory.h"
#include "core/compile/store_eviction.h"
#include "core/compile/store_file.h"
#include "core/support/log.h"

namespace uop {
namespace {

constexpr std::uint32_t kRecord = 255;  // the kind of records in their trailers; no ArtifactKind

Digest record_key(std::string_view name) {
  return digest_of({"record", name});
}

/// A file that was open, read and found sound.
struct Verified {
  FileDescriptor fd;
  std::string payload;
};

enum class ReadOutcome { kSound, kMissing, kBad };

ReadOutcome read_verified(const std::string& path, std::uint32_t kind, const Digest& key, Verified& out) {
  out.fd = FileDescriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!out.fd.ok()) return errno == ELOOP ? ReadOutcome::kBad : ReadOutcome::kMissing;
  auto bytes = read_own_file(out.fd.get());
  const auto length = bytes ? verified_payload(kind, key, *bytes) : std::nullopt;
  if (!length) return ReadOutcome::kBad;
  bytes->resize(*length);
  out.payload = std::move(*bytes);
  return ReadOutcome::kSound;
}

class DirectoryStore final : public ArtifactStore {
 public:
  DirectoryStore(const std::string& directory, std::uint64_t max_bytes, StoreTiming timing)
      : directory_(directory, timing.retry_after),
        use_granularity_(timing.use_granularity),
        max_bytes_(max_bytes),
        eviction_(
            max_bytes, [this] { return list(); },
            [this](const ArtifactInfo& e) { return ::unlink(directory_.entry(e.kind, e.key).c_str()) == 0; }) {
    eviction_.look();
  }

  std::optional<std::string> read(ArtifactKind kind, const Digest& key) override {
    auto found = find(kind, key);
    return found ? std::optional(std::move(found->payload)) : std::nullopt;
  }

  std::optional<int> open_verified(ArtifactKind kind, const Digest& key) override {
    auto found = find(kind, key);
    return found ? std::optional(found->fd.release()) : std::nullopt;
  }

  void touch(ArtifactKind kind, const Digest& key) override {
    const std::string path = directory_.entry(kind, key);
    struct stat info {};
    if (directory_.readable() && ::lstat(path.c_str(), &info) == 0 && use_is_due(info))
      ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  }

  void reject(ArtifactKind kind, const Digest& key) override { drop_bad(directory_.entry(kind, key)); }

  bool contains(ArtifactKind kind, const Digest& key) override {
    return directory_.readable() && ::access(directory_.entry(kind, key).c_str(), F_OK) == 0;
  }

  bool write(ArtifactKind kind, const Digest& key, std::string_view payload) override {
    if (contains(kind, key)) return true;
    const std::uint64_t bytes = payload.size() + kTrailerBytes;
    if (bytes > max_bytes_ || !directory_.writable()) return false;
    const std::string trailer = trailer_of(static_cast<std::uint32_t>(kind), key, payload);
    if (!directory_.put(directory_.entry(kind, key), payload, trailer)) return false;
    ++writes_;
    eviction_.account(bytes, true);
    return true;
  }

  std::optional<std::string> read_record(std::string_view name) override {
    Verified found;
    if (!directory_.readable()) return std::nullopt;
    if (read_verified(record_path(name), kRecord, record_key(name), found) != ReadOutcome::kSound) return std::nullopt;
    return std::move(found.payload);
  }

  bool write_record(std::string_view name, std::string_view payload) override {
    return directory_.writable() &&
           directory_.put(record_path(name), payload, trailer_of(kRecord, record_key(name), payload));
  }

  std::string scratch() const override { return directory_.scratch(); }

  std::vector<ArtifactInfo> list() override {
    return directory_.readable() ? scan_entries(directory_.path()) : std::vector<ArtifactInfo>{};
  }

  VerifyReport verify() override {
    VerifyReport report;
    for (const ArtifactInfo& e : list()) {
      Verified found;
      const std::string path = directory_.entry(e.kind, e.key);
      const ReadOutcome outcome = read_verified(path, static_cast<std::uint32_t>(e.kind), e.key, found);
      if (outcome != ReadOutcome::kMissing) ++report.checked;
      if (outcome != ReadOutcome::kBad) continue;
      report.bad.push_back(path.substr(path.rfind('/') + 1));
      drop_bad(path);
    }
    eviction_.look();
    return report;
  }

  StatusOr<std::uint64_t> clear() override {
    std::uint64_t removed = 0;
    Status status;
    for (const ArtifactInfo& e : list()) {
      const std::string path = directory_.entry(e.kind, e.key);
      if (::unlink(path.c_str()) == 0)
        ++removed;
      else if (errno != ENOENT)
        status = error(StatusCode::kUnavailable, "cannot remove {}: {}; check the permissions of the directory", path,
                       std::strerror(errno));
    }
    eviction_.look();
    if (!status.ok()) return status;
    return removed;
  }

  ArtifactStoreStats stats() const override {
    const auto usage = eviction_.usage();
    return {.hits = hits_,
            .misses = misses_,
            .writes = writes_,
            .evictions = eviction_.evictions(),
            .bad_entries = bad_entries_,
            .errors = directory_.errors(),
            .bytes = usage.bytes,
            .entries = usage.entries};
  }

  const std::string& directory() const override { return directory_.path(); }
  std::string problem() const override { return directory_.problem(); }

 private:
  std::string record_path(std::string_view name) const {
    return fmt::format("{}/{}", store_folder(directory_.path(), "records"), name);
  }

  std::optional<Verified> find(ArtifactKind kind, const Digest& key) {
    Verified found;
    const std::string path = directory_.entry(kind, key);
    const ReadOutcome outcome = directory_.readable()
                                    ? read_verified(path, static_cast<std::uint32_t>(kind), key, found)
                                    : ReadOutcome::kMissing;
    if (outcome == ReadOutcome::kBad) drop_bad(path);
    if (outcome != ReadOutcome::kSound) {
      ++misses_;
      return std::nullopt;
    }
    ++hits_;
    record_use(found.fd.get());
    return found;
  }

  void drop_bad(const std::string& path) {
    ++bad_entries_;
    struct stat info {};
    const bool known = ::lstat(path.c_str(), &info) == 0;
    // The right bytes come back with the next write; a name that cannot be removed stays a miss.
    if (::unlink(path.c_str()) == 0 && known) eviction_.account(static_cast<std::uint64_t>(info.st_size), false);
    log(LogLevel::kWarning, "cache_entry_bad", {{"file", path}, {"effect", "removed; it is made again"}});
  }

  void record_use(int fd) const {
    struct stat info {};
    if (::fstat(fd, &info) == 0 && use_is_due(info))
      ::futimens(fd, nullptr);  // on a read-only file system the order of use is not needed either
  }

  /// A clock that differs from the file system's only makes this true more or less often.
  bool use_is_due(const struct stat& info) const {
    struct timespec now {};
    return ::clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           std::abs(now.tv_sec - info.st_mtim.tv_sec) >= use_granularity_.count();
  }

  StoreDirectory directory_;
  const std::chrono::seconds use_granularity_;
  const std::uint64_t max_bytes_;
  StoreEviction eviction_;
  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, writes_ = 0, bad_entries_ = 0;
};

}  // namespace

std::unique_ptr<ArtifactStore> ArtifactStore::open(const std::string& directory, std::uint64_t max_bytes,
                                                   StoreTiming timing) {
  std::error_code code;  // the working directory may be gone, or change later
  const std::filesystem::path absolute = std::filesystem::absolute(directory, code);
  return std::make_unique<DirectoryStore>(code ? directory : absolute.string(), max_bytes, timing);
}

}  // namespace uop
