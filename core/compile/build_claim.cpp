#include "core/compile/build_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/compile/file_lock.h"
#include "core/compile/store_directory.h"

namespace uop {
namespace {

constexpr std::chrono::milliseconds kPoll{5};  // little beside a compiler run, and 200 cheap calls a second

}  // namespace

BuildClaim::~BuildClaim() {
  // Removed before it is unlocked: one who locks the removed file sees that (try_lock) and opens a new one.
  if (lock_.ok()) ::unlink(path_.c_str());
}

std::optional<BuildClaim> try_claim(const std::string& directory, const Digest& key) {
  const std::string path = store_folder(directory, "claims") + "/" + key.hex();
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  switch (file.ok() ? try_lock(file.get(), path) : LockOutcome::kUnavailable) {
    case LockOutcome::kLocked: return BuildClaim(std::move(file), path);
    case LockOutcome::kTaken: return std::nullopt;
    case LockOutcome::kUnavailable: break;
  }
  return BuildClaim();
}

void pause_between_tries(const Cancel& cancel) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, cancel.token, kPoll, [] { return false; });
}

}  // namespace uop
