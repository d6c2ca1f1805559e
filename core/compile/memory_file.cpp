#include "core/compile/memory_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace uop {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

StatusOr<FileDescriptor> memory_file(std::string_view bytes) {
  FileDescriptor file(::memfd_create("uopd", MFD_CLOEXEC));
  if (!file.ok() || !write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    return error(StatusCode::kResourceExhausted,
                 "cannot make a memory file of {} bytes: {}; free memory or raise the limit of open files",
                 bytes.size(), std::strerror(errno));
  return file;
}

}  // namespace uop
