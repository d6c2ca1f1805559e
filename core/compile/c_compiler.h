// One compiler run: C text in, the bytes of a shared object out.
//
// `compile_c` is what others call; `remove_abandoned_scratch` once at the start of a process.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/compile/toolchain.h"
#include "core/support/cancel.h"
#include "core/support/status.h"

namespace uop {

struct CompileJob {
  std::string_view text;
  std::string symbol;   // what UOP_ENTRY stands for
  bool strict = false;  // no FMA contraction
  std::string scratch;  // a directory for the compiler's files; "": memory or the system's temporary directory
  std::chrono::milliseconds time_limit;
};

/// Runs the compiler in a directory of its own, of which nothing is left afterwards. Errors: those of run_process;
/// INTERNAL where the compiler refuses the text (its first lines are quoted), crashes, or leaves no output;
/// RESOURCE_EXHAUSTED where it was killed from outside or there is no directory to write to.
StatusOr<std::string> compile_c(const Toolchain& toolchain, const CompileJob& job, const Cancel& cancel);

/// Removes what killed processes have left in /dev/shm and the temporary directory. (In a store: whoever opens it.)
void remove_abandoned_scratch();

}  // namespace uop
