// File systems of one test: a view of the mounts that only this process and its children have, and that goes with them.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace uop {

/// Gives this process mounts of its own. One that is not root becomes root of a user namespace for it. Where the
/// system allows neither, what needs it fails: a test that did not run has seen nothing.
inline ::testing::AssertionResult own_mounts() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS | (user == 0 ? 0 : CLONE_NEWUSER)) != 0)
    return ::testing::AssertionFailure() << "no mounts of our own: " << std::strerror(errno)
                                         << "; run the tests as root, or allow user namespaces";
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return ::testing::AssertionFailure() << "cannot make the mounts private: " << std::strerror(errno);
  return ::testing::AssertionSuccess();
}

/// A file system in memory of this size at `path`, which is there.
inline ::testing::AssertionResult mount_memory(const std::string& path, const std::string& size) {
  if (mount("tmpfs", path.c_str(), "tmpfs", 0, ("mode=700,size=" + size).c_str()) == 0)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "cannot mount at " << path << ": " << std::strerror(errno);
}

/// Makes the directory at `path` a mount of itself that can only be read, until it is unmounted.
inline ::testing::AssertionResult make_read_only(const std::string& path) {
  if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
      mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "cannot mount " << path << ": " << std::strerror(errno);
}

}  // namespace uop
