#include "core/compile/store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/compile/memory_file.h"
#include "core/support/log.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

Status system_error(std::string_view what, const std::string& path, int code) {
  return error(StatusCode::kUnavailable, "{} {}: {}", what, path, std::strerror(code));
}

/// The same trouble is not logged again for this long, even where it comes and goes.
constexpr std::chrono::minutes kAnnounceAgain{1};

/// Whether it is a directory that only this user can write.
Status look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return system_error("cannot look at", path, errno);
  if (!S_ISDIR(info.st_mode)) return system_error("cannot use", path, ENOTDIR);
  if (info.st_uid != ::geteuid())
    return error(StatusCode::kPermissionDenied, "{} belongs to user {}, not to this process's user {}", path,
                 info.st_uid, ::geteuid());
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return error(StatusCode::kPermissionDenied, "others can write {} (mode {:o}); run chmod go-w on it", path,
                 info.st_mode & 07777u);
  return ok_status();
}

/// The same, made where missing.
Status own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("cannot create", path, errno);
  return look_at(path);
}

/// Not followed by a sync of the directory: a name that a loss of power takes back is a miss, and no damage.
bool rename_into(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  const std::string parent = fs::path(to).parent_path();
  if (errno != ENOENT || (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)) return false;
  return ::rename(from.c_str(), to.c_str()) == 0;
}

bool write_file(const std::string& path, std::string_view payload, std::string_view trailer) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return fd.ok() && write_all(fd.get(), payload) && write_all(fd.get(), trailer) && ::fsync(fd.get()) == 0;
}

}  // namespace

std::string store_folder(const std::string& directory, std::string_view folder) {
  return fmt::format("{}/v1/{}", directory, folder);
}

StoreDirectory::StoreDirectory(std::string directory, std::chrono::milliseconds retry_after)
    : directory_(std::move(directory)), retry_after_(retry_after) {
  const std::lock_guard lock(mutex_);
  if (const Status status = prepare(); !status.ok()) fail(status);
}

std::string StoreDirectory::entry(ArtifactKind kind, const Digest& key) const {
  const std::string hex = key.hex();
  return fmt::format("{}/v1/{}/{}.{}", directory_, hex.substr(0, 2), hex,
                     kind == ArtifactKind::kKernel ? "kernel" : "plan");
}

Status StoreDirectory::prepare() {
  trusted_ = false;
  std::error_code code;
  fs::create_directories(fs::path(directory_).parent_path(), code);  // what matters fails in the next line
  if (const Status status = own_directory(directory_); !status.ok()) return status;
  if (const Status status = own_directory(directory_ + "/v1"); !status.ok()) return status;
  trusted_ = true;  // from here on what is there can be read, even if nothing can be written
  for (const std::string_view folder : {"records", "claims", "tmp"})
    if (const Status status = own_directory(store_folder(directory_, folder)); !status.ok()) return status;
  return claim_scratch();
}

Status StoreDirectory::claim_scratch() {
  std::error_code code;
  if (!scratch_.path().empty() && fs::is_directory(scratch_.path(), code)) return ok_status();
  const std::string folder = store_folder(directory_, "tmp");
  remove_abandoned(folder);
  remove_abandoned(store_folder(directory_, "claims"));
  auto made = LockedDirectory::make(folder, fmt::format("{}-", ::getpid()));
  if (made.ok()) scratch_ = *std::move(made);
  return made.status();
}

/// Whether a file as large as the one that failed can be written now. A smaller one would say nothing: a full disk has
/// room for those, and the trouble would come and go.
Status StoreDirectory::probe() {
  if (failed_bytes_ == 0) return ok_status();
  const std::string path = scratch_.path() + "/probe";
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int code = fd.ok() ? ::posix_fallocate(fd.get(), 0, static_cast<off_t>(failed_bytes_)) : errno;
  ::unlink(path.c_str());
  return code == 0 ? ok_status() : system_error("cannot write below", directory_, code);
}

bool StoreDirectory::retry_if_due() {
  if (Clock::now() < retry_at_) return false;
  Status status = prepare();
  if (status.ok()) status = probe();
  if (!status.ok()) {
    fail(status);
    return false;
  }
  recover();
  return true;
}

void StoreDirectory::fail(const Status& why) {
  const Clock::time_point now = Clock::now();
  const bool is_new = problem_.empty();
  ++errors_;
  retry_at_ = now + retry_after_;
  problem_ = message(why);
  if (!is_new) return;
  announced_ = problem_ != last_announced_ || now >= last_announced_at_ + kAnnounceAgain;
  if (!announced_) return;
  last_announced_ = problem_;
  last_announced_at_ = now;
  log(LogLevel::kWarning, "cache_directory_unusable",
      {{"directory", directory_}, {"problem", problem_}, {"effect", "kernels are kept in memory; it is tried again"}});
}

void StoreDirectory::recover() {
  problem_.clear();
  failed_bytes_ = 0;
  if (announced_) log(LogLevel::kWarning, "cache_directory_usable_again", {{"directory", directory_}});
}

bool StoreDirectory::trusted() {
  if (!trusted_) return false;
  Status status = look_at(directory_);
  if (status.ok()) status = look_at(directory_ + "/v1");
  if (status.ok()) return true;
  trusted_ = false;
  fail(status);
  return false;
}

bool StoreDirectory::readable() {
  const std::lock_guard lock(mutex_);
  if (trusted_) return trusted();
  retry_if_due();
  return trusted_;
}

bool StoreDirectory::writable() {
  const std::lock_guard lock(mutex_);
  return problem_.empty() ? trusted() : retry_if_due();
}

bool StoreDirectory::put(const std::string& path, std::string_view payload, std::string_view trailer) {
  std::string temporary;
  {
    const std::lock_guard lock(mutex_);
    temporary = fmt::format("{}/{}", scratch_.path(), ++serial_);
  }
  if (write_file(temporary, payload, trailer) && rename_into(temporary, path)) return true;
  const int code = errno;
  ::unlink(temporary.c_str());
  const std::lock_guard lock(mutex_);
  failed_bytes_ = payload.size() + trailer.size();
  fail(system_error("cannot write below", directory_, code));
  return false;
}

std::string StoreDirectory::scratch() const {
  const std::lock_guard lock(mutex_);
  return problem_.empty() ? scratch_.path() : "";
}

std::string StoreDirectory::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace uop
