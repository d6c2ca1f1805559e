#include "core/compile/file_lock.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace uop {

LockOutcome try_lock(int fd, const std::string& path) {
  // flock and not POSIX record locks: two libraries in one process must exclude each other as well.
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? LockOutcome::kTaken : LockOutcome::kUnavailable;
  struct stat opened {
  }, named{};
  if (::fstat(fd, &opened) != 0 || ::stat(path.c_str(), &named) != 0) return LockOutcome::kTaken;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev ? LockOutcome::kLocked : LockOutcome::kTaken;
}

}  // namespace uop
