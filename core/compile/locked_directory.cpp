#include "core/compile/locked_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/compile/file_lock.h"

namespace uop {

namespace fs = std::filesystem;

LockedDirectory::~LockedDirectory() {
  std::error_code ignored;  // what cannot be removed now is left to the next process
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

StatusOr<LockedDirectory> LockedDirectory::make(const std::string& parent, std::string_view prefix) {
  const auto failed = [&](std::string_view what, const std::string& path) {
    return error(StatusCode::kUnavailable, "{} {}: {}", what, path, std::strerror(errno));
  };
  for (int attempt = 0; attempt < 10; ++attempt) {  // another process may take ours for abandoned before it is locked
    std::string path = fmt::format("{}/{}XXXXXX", parent, prefix);
    if (::mkdtemp(path.data()) == nullptr) return failed("cannot create", path);
    FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.ok() && errno != ENOENT) return failed("cannot open", path);
    if (!fd.ok() || try_lock(fd.get(), path) == LockOutcome::kTaken) continue;
    return LockedDirectory(std::move(path), std::move(fd));
  }
  return error(StatusCode::kUnavailable, "directories made below {} vanish at once", parent);
}

void remove_abandoned(const std::string& folder, std::string_view prefix) {
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string path = entry->path();
    struct stat info {};
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    if (::lstat(path.c_str(), &info) != 0 || info.st_uid != ::geteuid()) continue;
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::error_code ignored;
    if (fd.ok() && try_lock(fd.get(), path) == LockOutcome::kLocked) fs::remove_all(path, ignored);
  }
}

}  // namespace uop
