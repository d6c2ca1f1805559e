#include "client/cpp/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace uop {
namespace {

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string kernel_line(const KernelReport& kernel, bool again) {
  const double gflops =
      static_cast<double>(kernel.flops) / std::max<double>(1, static_cast<double>(kernel.run.count()));
  std::string line =
      fmt::format("  {:<32} {:>10.3f} ms {:>9.2f} GFLOP/s", kernel.name, milliseconds(kernel.run), gflops);
  if (again) line += fmt::format("  (again: {:.3f} ms)", milliseconds(kernel.again));
  return line + "\n";
}

}  // namespace

std::string_view name(FoundIn found_in) {
  switch (found_in) {
    case FoundIn::kMemory: return "memory";
    case FoundIn::kStore: return "store";
    case FoundIn::kCompiled: return "compiled";
  }
  return "";
}

std::string to_text(const RunReport& report, int verbosity) {
  if (verbosity < 1) return "";
  std::string out;
  if (verbosity >= 4)
    for (const std::string& source : report.sources) out += source + "\n";
  if (verbosity >= 2)
    for (const KernelReport& kernel : report.kernel_runs) out += kernel_line(kernel, verbosity >= 3);
  return out + fmt::format("run: {} kernels ({} compiled), plan from {}, schedule {:.1f} ms, run {:.1f} ms\n",
                           report.kernels, report.kernels_compiled, name(report.found_in),
                           milliseconds(report.schedule), milliseconds(report.run));
}

}  // namespace uop
