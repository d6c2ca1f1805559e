// The C compiler: which one, what exactly it is, and the flags it is given. Found once at start.
//
// `find_toolchain` is what others call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/compile/kernel_library.h"
#include "core/support/options.h"
#include "core/support/status.h"

namespace uop {

struct Toolchain {
  ToolchainInfo info;
  std::vector<std::string> flags;  // all but those that name files and symbols; info.flags is their text
  std::string search_path;         // PATH of the compiler's own programs

  /// A program or library whose content is part of the identity, and how to see cheaply that it was replaced.
  struct File {
    std::string path;
    std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t> stamp;  // device, inode, size, mtime
  };
  std::vector<File> files;

  /// False once a file of the compiler was replaced (an upgrade): what it makes from now on is not what
  /// info.identity stands for, and must not be stored under it.
  bool unchanged() const;
};

/// The compiler that `options.compiler` names, else the first of gcc, cc and clang on PATH. Its identity is a digest
/// over the content of the driver and of cc1, as and ld where it has them, over the shared libraries that these need
/// (the code of clang lies in libraries), over libgcc.a, and over all that --version prints. Where none is found:
/// info.available is false and info.problem says what to do. Errors: INVALID_ARGUMENT for a named compiler that is not
/// there, or a cpu level above this machine's.
StatusOr<Toolchain> find_toolchain(const EngineOptions& options);

/// The flags of one kernel: the toolchain's, and FMA contraction or (strict) none. Never a fast-math flag.
std::vector<std::string> kernel_flags(const Toolchain& toolchain, bool strict);

/// The toolchain as a record of the store, so that a process without a compiler can name the keys of the one that
/// filled the store; and back, which leaves `info` as it is where the text is not such a record.
std::string toolchain_record_name(const std::string& cpu);
std::string toolchain_record(const ToolchainInfo& info);
void apply_toolchain_record(const std::string& record, ToolchainInfo& info);

}  // namespace uop
