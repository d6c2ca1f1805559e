// What "native" means on this machine: one of the four x86-64 levels of the psABI. Kernels are compiled for a level
// and the level is part of their key, so that unlike machines may share a cache directory.
//
// `resolve_cpu_level` is what others call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/support/status.h"

namespace uop {

/// The highest level whose instructions processor and operating system support: "x86-64" to "x86-64-v4"; elsewhere
/// the baseline of the architecture. Asks cpuid in this process, so it is right under an emulator too.
std::string machine_cpu_level();

/// The level that the option `cpu` asks for: "native" or a level by name. Errors: INVALID_ARGUMENT for one above
/// `machine`, or unknown.
StatusOr<std::string> resolve_cpu_level(std::string_view option, const std::string& machine = machine_cpu_level());

/// The compiler flags that select a level; never -march=native, whose meaning changes from machine to machine.
std::vector<std::string> cpu_flags(const std::string& level);

}  // namespace uop
