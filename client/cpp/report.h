// What a device says about a run, a compilation and itself: plain data, the same from a server and from the embedded
// engine. `to_text(RunReport, verbosity)` prints a run as `uop -v` does.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/plan.h"

namespace uop {

/// Where a plan was found.
enum class FoundIn { kMemory, kStore, kCompiled };
std::string_view name(FoundIn found_in);

struct KernelReport {
  std::string name;
  std::chrono::nanoseconds run{};
  std::chrono::nanoseconds again{};  // a second, warm run; 0 below verbosity 3
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
};

/// A run. Verbosity 0 and 1 fill the totals, 2 a row per kernel, 3 their warm time, 4 the C of what was compiled.
struct RunReport {
  FoundIn found_in = FoundIn::kMemory;
  std::chrono::nanoseconds queue{};
  std::chrono::nanoseconds schedule{};
  std::chrono::nanoseconds run{};
  std::uint32_t kernels = 0;
  std::uint32_t kernels_compiled = 0;
  std::vector<KernelReport> kernel_runs = {};
  std::vector<std::string> sources = {};
};

/// "r_512  0.680 ms  0.39 GFLOP/s" for each kernel, then "run: 3 kernels, schedule 238.1 ms, run 4.4 ms"; each line
/// ends in a newline. Empty at verbosity 0.
std::string to_text(const RunReport& report, int verbosity);

/// A compilation, without a run.
struct CompileReport {
  std::string plan_id;
  FoundIn found_in = FoundIn::kMemory;
  std::string why;  // on a miss: the nearest cached structure and the first difference
  std::chrono::nanoseconds schedule{};
  std::uint32_t kernels_compiled = 0;
  std::vector<std::int64_t> input_slots = {};     // plan input i is the graph's BUFFER with this slot
  std::vector<std::int64_t> variable_slots = {};  // plan variable i is the graph's VARIABLE with this slot
  std::vector<std::uint32_t> root_outputs = {};   // root r of the graph is this output of the plan
  Plan plan = {};                                 // from a server: without the C sources
};

struct StageListing {
  std::string name;  // a pass of core/compiler.cpp, and the kernel where it is of one: "strip_detach", "render_c r_4"
  std::string text;

  std::string_view pass() const { return std::string_view(name).substr(0, name.find(' ')); }
};
/// The pass whose text is C.
inline constexpr std::string_view kRenderPass = "render_c";

struct ExplainReport {
  CompileReport compilation;
  std::vector<StageListing> stages;  // every pass, in order
};

/// One fact about a device.
struct StatusRow {
  enum class Kind { kText, kNumber };
  StatusRow(std::string row_name, std::string value)
      : name(std::move(row_name)), kind(Kind::kText), text(std::move(value)) {}
  StatusRow(std::string row_name, double value) : name(std::move(row_name)), kind(Kind::kNumber), number(value) {}

  std::string name;
  Kind kind;
  std::string text = {};
  double number = 0;
};
/// What a device is and how it does; names as in StatusReply of the protocol.
using DeviceStatus = std::vector<StatusRow>;

}  // namespace uop
