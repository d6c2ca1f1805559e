// A directory for files in the making whose maker holds a lock on it. One whose lock is free belongs to the dead, and
// is removed by whoever comes next. A lock and not the number of the process decides, since containers that share a
// volume do not share process numbers.
//
// `LockedDirectory::make` and `remove_abandoned` are what others call.
#pragma once

#include <string>
#include <string_view>

#include "core/compile/file_descriptor.h"
#include "core/support/status.h"

namespace uop {

class LockedDirectory {
 public:
  LockedDirectory() = default;
  LockedDirectory(LockedDirectory&& other) noexcept { *this = std::move(other); }
  LockedDirectory& operator=(LockedDirectory&& other) noexcept {
    path_.swap(other.path_);
    lock_ = std::move(other.lock_);  // swaps
    return *this;
  }
  /// Removes the directory with all that is in it, and frees the lock.
  ~LockedDirectory();

  /// A new directory below `parent` whose name is `prefix` and six random characters. Errors: UNAVAILABLE.
  static StatusOr<LockedDirectory> make(const std::string& parent, std::string_view prefix);

  /// "" for one that was not made.
  const std::string& path() const { return path_; }

 private:
  LockedDirectory(std::string path, FileDescriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  FileDescriptor lock_;
};

/// Removes what the dead have left in `folder`: files and directories of this user whose names begin with `prefix` and
/// that nobody has locked.
void remove_abandoned(const std::string& folder, std::string_view prefix = "");

}  // namespace uop
