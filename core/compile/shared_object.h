// What is looked at in a shared object before the loader sees it: the loader trusts what it maps.
//
// `problem_of_shared_object` is what others call.
#pragma once

#include <optional>
#include <string_view>

namespace uop {

/// Why the open file must not be loaded as a kernel, or nothing. It must be a shared object whose every segment lies
/// within the file, because the loader maps segments without looking at the file's length, and touching a page beyond
/// it is a SIGBUS. And it must neither bring code that runs when it is loaded or unloaded nor need another library
/// that might: gcc's -ffast-math, for one, links a constructor that makes the loading thread flush denormals.
std::optional<std::string_view> problem_of_shared_object(int fd);

}  // namespace uop
