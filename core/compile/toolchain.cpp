#include "core/compile/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/compile/build_id.h"
#include "core/compile/cpu_level.h"
#include "core/compile/subprocess.h"
#include "core/support/environment.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kProbeLimit{10000};  // a healthy driver answers within some milliseconds

bool is_program(const std::string& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
}

/// A program by path, or by name on `search_path`; "" where there is none.
std::string find_program(const std::string& name, const std::string& search_path) {
  std::error_code code;
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name, code).string() : "";
  std::istringstream directories(search_path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_program(path)) return fs::absolute(path, code).string();
  }
  return "";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// What a program prints for one argument; "" where it fails, or takes too long.
std::string ask(const std::string& program, const Toolchain& toolchain, const std::string& argument,
                std::chrono::milliseconds limit, const std::string& variable = "LC_ALL=C") {
  const auto result = run_process({.program = program,
                                   .arguments = {argument},
                                   .environment = {"PATH=" + toolchain.search_path, "LC_ALL=C", variable},
                                   .input = {},
                                   .time_limit = limit},
                                  Cancel{});
  return result.ok() && result->exit_code == 0 ? result->output : "";
}

std::optional<Toolchain::File> stamped(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Toolchain::File{
      path, {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec}};
}

/// Adds a file to the identity, once: a program by its content, a library by its build id where it has one.
void add_file(Toolchain& toolchain, const std::string& path, bool is_library, Digest& identity) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);  // through symbolic links: the content counts, not the name
  if (code) return;
  const auto file = stamped(real);
  const auto is_same = [&](const Toolchain::File& known) { return known.path == real; };
  if (!file || std::any_of(toolchain.files.begin(), toolchain.files.end(), is_same)) return;
  std::string bytes = is_library ? build_id_of(real) : "";
  if (bytes.empty()) {
    bytes.resize(static_cast<std::size_t>(fs::file_size(real, code)));
    if (!std::ifstream(real, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return;
  }
  identity = digest_of({identity.hex(), bytes});
  toolchain.files.push_back(*file);
}

/// Adds the shared libraries that a program needs: the code of clang lies in them. The dynamic linker lists them,
/// "name => path (address)" a line, instead of running the program; a static program prints something else.
void add_libraries(Toolchain& toolchain, const std::string& program, std::chrono::milliseconds limit,
                   Digest& identity) {
  std::istringstream lines(ask(program, toolchain, "--version", limit, "LD_TRACE_LOADED_OBJECTS=1"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find('/'), end = line.rfind(" (0x");
    if (begin != std::string::npos && end != std::string::npos && begin < end)
      add_file(toolchain, line.substr(begin, end - begin), true, identity);
  }
}

void identify(Toolchain& toolchain, std::chrono::milliseconds limit) {
  const std::string& driver = toolchain.info.path;
  const std::string version = ask(driver, toolchain, "--version", limit);
  toolchain.info.version = version.empty() ? "unknown version" : first_line(version);
  Digest identity = digest_of({version});
  std::vector<std::string> programs = {driver};
  for (const std::string name : {"cc1", "as", "ld"}) {
    const std::string answer = first_line(ask(driver, toolchain, "-print-prog-name=" + name, limit));
    const std::string path = answer.empty() ? "" : find_program(answer, toolchain.search_path);
    if (!path.empty()) programs.push_back(path);
  }
  for (const std::string& program : programs) add_file(toolchain, program, false, identity);
  for (const std::string& program : programs) add_libraries(toolchain, program, limit, identity);
  // Parts of it are linked into kernels (-lgcc).
  add_file(toolchain, first_line(ask(driver, toolchain, "-print-file-name=libgcc.a", limit)), false, identity);
  toolchain.info.identity = identity.hex();
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::vector<std::string> common_flags(const std::string& cpu) {
  std::vector<std::string> flags = cpu_flags(cpu);
  for (const char* flag : {
           "-std=gnu17", "-O3", "-w", "-fPIC", "-shared",
           "-nostdlib",             // no start files: gcc's crtfastmath would change the FP state of the process
           "-fwrapv",               // integers wrap
           "-fno-strict-aliasing",  // memory is given out by bytes, not by types
           "-fno-math-errno", "-fno-trapping-math",  // no value depends on errno or FP exceptions
           "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-ident", "-Wl,--build-id=none",
           "-Wl,-z,noseparate-code,-z,norelro",  // two mappings a kernel instead of five, and a small file
       })
    flags.emplace_back(flag);
  return flags;
}

}  // namespace

bool Toolchain::unchanged() const {
  return std::all_of(files.begin(), files.end(), [](const File& file) {
    const auto now = stamped(file.path);
    return now && now->stamp == file.stamp;
  });
}

/// The value of the option that stands for running from the cache only.
constexpr std::string_view kNoCompiler = "none";

StatusOr<Toolchain> find_toolchain(const EngineOptions& options) {
  const auto cpu = resolve_cpu_level(options.cpu);
  if (!cpu.ok()) return cpu.status();
  Toolchain toolchain;
  toolchain.search_path = environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  toolchain.flags = common_flags(*cpu);
  ToolchainInfo& info = toolchain.info;
  info.cpu = *cpu;
  info.flags = joined(toolchain.flags);

  if (options.compiler == kNoCompiler) {
    info.problem = "option compiler is none: only cached kernels run; leave it empty for the first of gcc, cc, clang";
    return toolchain;
  }
  if (!options.compiler.empty()) {
    info.path = find_program(options.compiler, toolchain.search_path);
    if (info.path.empty())
      return invalid_argument(
          "option compiler: {} is not an executable file, nor the name of one on PATH; name a C compiler, or leave it "
          "empty for the first of gcc, cc, clang",
          options.compiler);
  }
  for (const char* name : {"gcc", "cc", "clang"})
    if (info.path.empty()) info.path = find_program(name, toolchain.search_path);
  info.available = !info.path.empty();
  if (info.available)
    identify(toolchain, std::min(kProbeLimit, std::chrono::milliseconds(options.compile_timeout_ms)));
  else
    info.problem =
        "no C compiler: none of gcc, cc, clang is on PATH; install gcc, or set the option compiler to its path";
  return toolchain;
}

std::vector<std::string> kernel_flags(const Toolchain& toolchain, bool strict) {
  std::vector<std::string> flags = toolchain.flags;
  flags.emplace_back(strict ? "-ffp-contract=off" : "-ffp-contract=fast");
  return flags;
}

std::string toolchain_record_name(const std::string& cpu) {
  return "toolchain-" + cpu;
}

std::string toolchain_record(const ToolchainInfo& info) {
  return fmt::format("{}\n{}\n{}\n", info.identity, info.version, info.path);
}

void apply_toolchain_record(const std::string& record, ToolchainInfo& info) {
  std::istringstream lines(record);
  std::string identity, version, path;
  if (!std::getline(lines, identity) || !std::getline(lines, version) || !std::getline(lines, path)) return;
  if (!Digest::from_hex(identity)) return;
  info.identity = identity;
  info.version = version;
  info.path = path;
}

}  // namespace uop
