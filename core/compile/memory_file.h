// Bytes as a file that has no name in any directory: the standard input of a compiler, a kernel without a store.
#pragma once

#include <string_view>

#include "core/compile/file_descriptor.h"
#include "core/support/status.h"

namespace uop {

/// A memory file that holds `bytes`, positioned at its start. Errors: RESOURCE_EXHAUSTED.
StatusOr<FileDescriptor> memory_file(std::string_view bytes);

/// Writes all of `bytes` at the descriptor's position; false with errno set where that fails.
bool write_all(int fd, std::string_view bytes);

}  // namespace uop
