// An exclusive lock on a path of the store, shared by processes and machines. The kernel frees it when its owner dies.
#pragma once

#include <string>

#include "core/compile/file_descriptor.h"

namespace uop {

enum class LockOutcome { kLocked, kTaken, kUnavailable };

/// Locks what `fd` has open, without waiting. kTaken: another owner has it, or what it locked is no longer what lies at
/// `path` (its owner removed it meanwhile): try again with a new descriptor. kUnavailable: no locks on this file
/// system.
LockOutcome try_lock(int fd, const std::string& path);

}  // namespace uop
