// Maps a compiled kernel into this process. The only user of dlopen.
//
// `load_kernel` is what others call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/compile/kernel_library.h"

namespace uop {

/// The symbol of a kernel's entry point: unique to its key, so that two kernels never answer for each other.
std::string kernel_symbol(const Digest& key);

/// Counts the kernels that are mapped; shared by them, since a kernel may outlive the library that loaded it.
using LiveCount = std::shared_ptr<std::atomic<std::uint64_t>>;

/// Loads the shared object that `fd` has open; the descriptor may be closed afterwards. Errors: INTERNAL where it is
/// not a sound shared object for this machine, has no entry point, needs symbols that are not there, or would run code
/// of its own at load. The floating-point state of the thread is what it was, whatever the object does.
StatusOr<LoadedKernelPtr> load_kernel(int fd, const Digest& key, const LiveCount& live);

/// The same from bytes.
StatusOr<LoadedKernelPtr> load_kernel(std::string_view bytes, const Digest& key, const LiveCount& live);

}  // namespace uop
