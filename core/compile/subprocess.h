// Runs a program to its end, with a bound on its time and on what it prints. The only place that starts processes.
//
// `run_process` is what others call. It uses posix_spawn, never fork: the cost must not grow with the memory of the
// server. The child gets its own process group, the descriptors 0 to 2 and no other, and default signals.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/cancel.h"
#include "core/support/status.h"

namespace uop {

/// What is kept of a child's output, and how much more it may print before it is killed: a compiler that prints
/// without end costs its own request only.
inline constexpr std::size_t kKeptOutput = 64 << 10;
inline constexpr std::size_t kMostOutput = 4 << 20;

struct ProcessRequest {
  std::string program;                   // path; not searched on PATH
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string_view input;                // the standard input
  std::chrono::milliseconds time_limit;
};

struct ProcessResult {
  std::string output;    // stdout and stderr as they came, the first kKeptOutput bytes
  int exit_code = 0;     // -1 where a signal ended it
  int signal = 0;        // that signal, or 0
  bool flooded = false;  // killed for printing more than kMostOutput
};

/// The end of the program, whatever its exit code. On every way out the whole process group is dead and reaped.
/// Errors: CANCELLED and DEADLINE_EXCEEDED (from `cancel`), RESOURCE_EXHAUSTED (over the time limit, or no process or
/// descriptor to be had), FAILED_PRECONDITION (the program cannot be executed).
StatusOr<ProcessResult> run_process(const ProcessRequest& request, const Cancel& cancel);

}  // namespace uop
