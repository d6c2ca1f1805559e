// One build per key across processes: whoever holds the lock <store>/v1/claims/<key> builds, the others wait for it
// and then find the result in the store. A claim is held only while a compiler runs, whose time is bounded. The kernel
// frees the lock of a dead builder, so that it blocks nobody.
//
// `try_claim` is what others call.
#pragma once

#include <optional>
#include <string>

#include "core/compile/file_descriptor.h"
#include "core/support/cancel.h"
#include "core/support/digest.h"

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

/// The right to build `key`, or nothing while another has it. Where the store in `directory` cannot hold locks the
/// claim is empty: a second build is waste, but no harm. Whoever gets a claim asks the store again: the one who held it
/// before may have built the key.
std::optional<BuildClaim> try_claim(const std::string& directory, const Digest& key);

/// Waits a moment before the next try; not after `cancel` is stopped.
void pause_between_tries(const Cancel& cancel);

}  // namespace uop
