// The calling convention of a compiled kernel, shared by what renders, loads and runs it.
#pragma once

#include <cstdint>
#include <string_view>

namespace uop {

/// `buffers`: one address per parameter, in the order of the plan's refs. `variables`: one value per variable of the
/// kernel. `begin..end`: the slice of the outermost parallel loop to run; a kernel without one ignores it.
using KernelEntry = void (*)(void* const* buffers, const std::int64_t* variables, std::int64_t begin, std::int64_t end);

/// Part of every kernel key. Raise it when what the C text means changes without the text: the calling convention, or
/// how kernels are linked. What the renderer writes differently is another text, and needs no new epoch.
inline constexpr std::string_view kKernelEpoch = "1";

/// The macro that stands for the entry point's name in rendered C; the compiler is told to replace it by a symbol
/// that is unique to the kernel's digest (-DUOP_ENTRY=uop_k_<hex>), so that the C text holds no digest of itself.
inline constexpr std::string_view kEntryMacro = "UOP_ENTRY";

}  // namespace uop
