// The build id of a program or shared library: a digest of its content that the linker left in it. Reading it costs
// nothing, where a digest over a compiler's libraries would cost every start a third of a second.
//
// `build_id_of` is what others call.
#pragma once

#include <string>

namespace uop {

/// The bytes of the note NT_GNU_BUILD_ID of a 64-bit ELF file; "" where the file is something else, or has none.
std::string build_id_of(const std::string& path);

}  // namespace uop
