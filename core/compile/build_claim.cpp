#include "core/compile/build_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "core/compile/file_lock.h"
#include "core/compile/store_directory.h"

namespace uop {
namespace {

constexpr std::chrono::milliseconds kPoll{5};  // little beside a compiler run, and 200 cheap calls a second

/// Sleeps for a while; wakes up early when `cancel` is stopped.
void pause(const Cancel& cancel) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, cancel.token, kPoll, [] { return false; });
}

}  // namespace

BuildClaim::~BuildClaim() {
  // Removed before it is unlocked: one who locks the removed file sees that (try_lock) and opens a new one.
  if (lock_.ok()) ::unlink(path_.c_str());
}

StatusOr<BuildClaim> claim_build(const std::string& directory, const Digest& key, std::chrono::milliseconds most_wait,
                                 const Cancel& cancel) {
  const std::string path = store_folder(directory, "claims") + "/" + key.hex();
  const Clock::time_point end = Clock::now() + most_wait;
  while (true) {
    if (Status status = cancel.status(); !status.ok()) return status;
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    const LockOutcome outcome = file.ok() ? try_lock(file.get(), path) : LockOutcome::kUnavailable;
    if (outcome == LockOutcome::kLocked) return BuildClaim(std::move(file), path);
    if (outcome == LockOutcome::kUnavailable || Clock::now() >= end) return BuildClaim();
    pause(cancel);
  }
}

}  // namespace uop
