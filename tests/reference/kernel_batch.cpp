#include "tests/reference/kernel_batch.h"

#include <atomic>

#include "core/compile/c_compiler.h"
#include "core/compile/loaded_kernel.h"
#include "core/render/prelude.h"

namespace uop::reference {
namespace {

constexpr std::chrono::minutes kTimeLimit{10};  // a thousand kernels on a busy machine

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The kernel and its entry point, without the prelude, which is the text before them.
std::string without_prelude(const std::string& source) {
  constexpr std::string_view kKernel = "static __attribute__((noinline";
  for (std::size_t at = source.find(kKernel); at != std::string::npos; at = source.find(kKernel, at + 1)) {
    const std::string_view rest = std::string_view(source).substr(at);
    const std::string prelude = prelude_for(rest);
    if (source.compare(0, at, prelude.empty() ? "" : prelude + "\n") == 0) return std::string(rest);
  }
  throw BrokenInvariant("a kernel is not its prelude followed by a function:\n" + source);
}

/// What stands in `text` between `before` and the next `after`.
std::string between(const std::string& text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  check(at != std::string::npos, "rendered C has another form than the batches of the tests know");
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

/// The kernel under names that no other has: `kernel_<n>`, and `entry_<n>` for its entry point.
std::string renamed(std::string text, std::size_t n) {
  const std::string entry = "void " + std::string(kEntryMacro) + "(";
  const std::string name = between(text.substr(text.find(entry)), "{\n  ", "(");
  replace_all(text, "void " + name + "(", fmt::format("void kernel_{}(", n));
  replace_all(text, "  " + name + "(", fmt::format("  kernel_{}(", n));
  replace_all(text, entry, fmt::format("static void entry_{}(", n));
  return text;
}

}  // namespace

std::size_t KernelBatch::add(const std::string& source) {
  const auto [at, is_new] = positions_.try_emplace(source, functions_.size());
  if (is_new) {
    std::string function = renamed(without_prelude(source), functions_.size());
    functions_.push_back(edit_ ? edit_(std::move(function)) : std::move(function));
  }
  return at->second;
}

Status KernelBatch::compile() {
  if (functions_.empty()) return ok_status();
  std::string kernels;
  std::string table;
  for (std::size_t i = 0; i < functions_.size(); i++) {
    kernels += functions_[i] + "\n";
    table += fmt::format("  ((void **)buffers[0])[{0}] = (void *)entry_{0};\n", i);
  }
  // The one symbol of the batch writes the entry points where its first buffer says.
  const std::string text =
      fmt::format("{}\n{}void {}(void *const *buffers, const long *variables, long begin, long end) {{\n{}}}\n",
                  prelude_for(kernels), kernels, kEntryMacro, table);
  const Digest key = digest_of({text, toolchain_.info.identity, strict_ ? "strict" : "default"});
  const StatusOr<std::string> object = compile_c(
      toolchain_,
      {.text = text, .symbol = kernel_symbol(key), .strict = strict_, .scratch = "", .time_limit = kTimeLimit}, {});
  if (!object.ok()) return object.status();
  StatusOr<LoadedKernelPtr> loaded = load_kernel(*object, key, std::make_shared<std::atomic<std::uint64_t>>(0));
  if (!loaded.ok()) return loaded.status();
  loaded_ = *std::move(loaded);
  entries_.resize(functions_.size());
  void* const out = entries_.data();
  loaded_->entry()(&out, nullptr, 0, 1);
  return ok_status();
}

}  // namespace uop::reference
