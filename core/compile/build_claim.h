// One build per key across processes: whoever holds the lock <store>/v1/claims/<key> builds, the others wait for it
// and then find the result in the store. The kernel frees the lock of a dead builder, so that it blocks nobody.
//
// `claim_build` is what others call.
#pragma once

#include <chrono>
#include <string>

#include "core/compile/file_descriptor.h"
#include "core/support/cancel.h"
#include "core/support/digest.h"
#include "core/support/status.h"

namespace uop {

/// Held while its key is built. An empty one is held by nobody and keeps nobody out.
class BuildClaim {
 public:
  BuildClaim() = default;
  BuildClaim(FileDescriptor lock, std::string path) : lock_(std::move(lock)), path_(std::move(path)) {}
  BuildClaim(BuildClaim&&) = default;
  BuildClaim& operator=(BuildClaim&&) = default;
  ~BuildClaim();

 private:
  FileDescriptor lock_;
  std::string path_;
};

/// Waits until this process may build `key`. After `most_wait`, or where the store in `directory` cannot hold locks,
/// the claim is empty: a second build is waste, but no harm. The caller then asks the store again, since the one who
/// held the claim may have built the key. Errors: CANCELLED, DEADLINE_EXCEEDED.
StatusOr<BuildClaim> claim_build(const std::string& directory, const Digest& key, std::chrono::milliseconds most_wait,
                                 const Cancel& cancel);

}  // namespace uop
