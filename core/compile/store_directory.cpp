#include "core/compile/store_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/compile/file_lock.h"
#include "core/compile/memory_file.h"
#include "core/support/log.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

Status system_error(std::string_view what, const std::string& path, int code) {
  return error(StatusCode::kUnavailable, "{} {}: {}", what, path, std::strerror(code));
}

/// A directory that only this user can write, made where missing.
Status own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("cannot create", path, errno);
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

/// Removes what the dead have left in a folder where the living hold locks: scratch directories, claims.
void remove_abandoned(const std::string& folder) {
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string path = entry->path();
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::error_code ignored;  // what cannot be removed now is left to the next process
    if (fd.ok() && try_lock(fd.get(), path) == LockOutcome::kLocked) fs::remove_all(path, ignored);
  }
}

bool sync_directory(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.ok() && (::fsync(fd.get()) == 0 || errno == EINVAL);  // EINVAL: this file system has no such thing
}

bool rename_into(const std::string& from, const std::string& to) {
  const std::string parent = fs::path(to).parent_path();
  if (::rename(from.c_str(), to.c_str()) != 0) {
    if (errno != ENOENT || (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)) return false;
    if (::rename(from.c_str(), to.c_str()) != 0) return false;
  }
  return sync_directory(parent);
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
  if (const Status status = prepare(); !status.ok()) fail(status, false);
}

StoreDirectory::~StoreDirectory() {
  std::error_code ignored;  // the next process to open the store tries again
  if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
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
  if (!scratch_.empty() && fs::is_directory(scratch_, code)) return ok_status();
  const std::string folder = store_folder(directory_, "tmp");
  remove_abandoned(folder);
  remove_abandoned(store_folder(directory_, "claims"));
  for (int attempt = 0; attempt < 10; ++attempt) {  // another process may take ours for abandoned before it is locked
    std::string path = fmt::format("{}/{}-XXXXXX", folder, ::getpid());
    if (::mkdtemp(path.data()) == nullptr) return system_error("cannot create", path, errno);
    FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.ok() && errno != ENOENT) return system_error("cannot open", path, errno);
    if (!fd.ok() || try_lock(fd.get(), path) == LockOutcome::kTaken) continue;
    scratch_ = path;
    scratch_lock_ = std::move(fd);
    return ok_status();
  }
  return error(StatusCode::kUnavailable, "directories made below {} vanish at once", folder);
}

bool StoreDirectory::retry_if_due() {
  if (Clock::now() < retry_at_) return false;
  retry_at_ = Clock::now() + retry_after_;
  const Status status = prepare();
  if (!status.ok()) {
    fail(status, false);
    return false;
  }
  if (!failed_on_write_) recover();
  return true;
}

void StoreDirectory::fail(const Status& why, bool on_write) {
  ++errors_;
  if (problem_.empty())
    log(LogLevel::kWarning, "cache_directory_unusable",
        {{"directory", directory_},
         {"problem", message(why)},
         {"effect", "kernels are kept in memory; it is tried again"}});
  problem_ = message(why);
  failed_on_write_ = on_write;
  retry_at_ = Clock::now() + retry_after_;
}

void StoreDirectory::recover() {
  if (problem_.empty()) return;
  problem_.clear();
  log(LogLevel::kWarning, "cache_directory_usable_again", {{"directory", directory_}});
}

bool StoreDirectory::readable() {
  const std::lock_guard lock(mutex_);
  if (!trusted_) retry_if_due();
  return trusted_;
}

bool StoreDirectory::writable() {
  const std::lock_guard lock(mutex_);
  return problem_.empty() || retry_if_due();
}

bool StoreDirectory::put(const std::string& path, std::string_view payload, std::string_view trailer) {
  std::string temporary;
  {
    const std::lock_guard lock(mutex_);
    temporary = fmt::format("{}/{}", scratch_, ++serial_);
  }
  const bool ok = write_file(temporary, payload, trailer) && rename_into(temporary, path);
  const int code = errno;
  if (!ok) ::unlink(temporary.c_str());
  const std::lock_guard lock(mutex_);
  if (ok)
    recover();
  else
    fail(system_error("cannot write", path, code), true);
  return ok;
}

std::string StoreDirectory::scratch() const {
  const std::lock_guard lock(mutex_);
  return problem_.empty() ? scratch_ : "";
}

std::string StoreDirectory::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace uop
