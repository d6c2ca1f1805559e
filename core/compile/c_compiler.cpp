#include "core/compile/c_compiler.h"

#include <signal.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/compile/locked_directory.h"
#include "core/compile/subprocess.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRoom = 16 << 20;  // bytes that must be free for one run; a kernel needs far less
constexpr std::size_t kQuotedBytes = 2000;
constexpr std::size_t kQuotedLines = 12;

constexpr std::string_view kScratchPrefix = "uopd-scratch-";

/// Where scratch directories go when the store has no place for them.
std::vector<std::string> fallback_folders() {
  std::error_code code;
  return {"/dev/shm", fs::temp_directory_path(code).string()};
}

/// A new directory below the first parent that takes it and has room; one without a path where none does.
LockedDirectory scratch_directory(const std::string& preferred) {
  std::vector<std::string> parents = fallback_folders();
  parents.insert(parents.begin(), preferred);
  for (const std::string& parent : parents) {
    struct statvfs space {};
    if (parent.empty() || ::statvfs(parent.c_str(), &space) != 0) continue;
    if (std::uint64_t{space.f_bavail} * space.f_frsize < kRoom) continue;
    auto made = LockedDirectory::make(parent, kScratchPrefix);
    if (made.ok()) return *std::move(made);
  }
  return {};
}

/// The first lines of what the compiler said, as plain text: it becomes part of an error message.
std::string quote(std::string_view output) {
  std::string text(output.substr(0, kQuotedBytes));
  std::size_t end = 0;
  for (std::size_t line = 0; line < kQuotedLines && end < text.size(); ++line) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string::npos ? text.size() : next + 1;
  }
  const bool cut = end < output.size();
  text.resize(end);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return c != '\n' && (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~'); },
      '?');
  return text + (cut ? "…" : "");
}

Status failure(const Toolchain& toolchain, const ProcessResult& result) {
  const std::string said = result.output.empty() ? "it said nothing" : "it said:\n" + quote(result.output);
  if (result.flooded)
    return error(StatusCode::kInternal, "the C compiler {} printed more than {} bytes and was killed; {}",
                 toolchain.info.path, kMostOutput, said);
  if (result.signal == SIGKILL)
    return error(StatusCode::kResourceExhausted,
                 "the C compiler {} was killed, most likely for want of memory; give the process more, or lower "
                 "compile_jobs; {}",
                 toolchain.info.path, said);
  if (result.signal != 0)
    return error(StatusCode::kInternal, "the C compiler {} crashed with signal {}; {}", toolchain.info.path,
                 result.signal, said);
  return error(StatusCode::kInternal, "the C compiler {} refused the kernel with exit code {}; {}", toolchain.info.path,
               result.exit_code, said);
}

}  // namespace

void remove_abandoned_scratch() {
  for (const std::string& folder : fallback_folders())
    if (!folder.empty()) remove_abandoned(folder, kScratchPrefix);
}

StatusOr<std::string> compile_c(const Toolchain& toolchain, const CompileJob& job, const Cancel& cancel) {
  const LockedDirectory scratch = scratch_directory(job.scratch);
  if (scratch.path().empty())
    return error(StatusCode::kResourceExhausted,
                 "no directory for the compiler's files has {} MiB free: tried the cache, /dev/shm and the temporary "
                 "directory; free some space",
                 kRoom >> 20);
  const std::string output = scratch.path() + "/kernel.so";
  std::vector<std::string> arguments = kernel_flags(toolchain, job.strict);
  // -lgcc, linked statically, for what has no instruction at this cpu level; all else a kernel brings along.
  for (const std::string& argument : {fmt::format("-D{}={}", kEntryMacro, job.symbol), std::string("-o"), output,
                                      std::string("-x"), std::string("c"), std::string("-"), std::string("-lgcc")})
    arguments.push_back(argument);

  const auto result =
      run_process({.program = toolchain.info.path,
                   .arguments = std::move(arguments),
                   .environment = {"PATH=" + toolchain.search_path, "LC_ALL=C", "TMPDIR=" + scratch.path()},
                   .input = job.text,
                   .time_limit = job.time_limit},
                  cancel);
  if (!result.ok()) return result.status();
  if (result->exit_code != 0 || result->flooded) return failure(toolchain, *result);

  std::ifstream file(output, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty())
    return error(StatusCode::kInternal, "the C compiler {} reported success and wrote nothing; check that it is one",
                 toolchain.info.path);
  return bytes;
}

}  // namespace uop
