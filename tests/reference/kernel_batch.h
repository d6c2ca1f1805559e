// Many kernels in one run of the C compiler, for tests of thousands of graphs: starting the compiler costs as much as
// ten small kernels. The kernels' text, the compiler and its flags are those of the service.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/compile/kernel_library.h"
#include "core/compile/toolchain.h"
#include "core/support/kernel_abi.h"

namespace uop::reference {

/// A change to the text of every kernel: a fault that tests of the tests put in.
using KernelEdit = std::function<std::string(std::string)>;

class KernelBatch {
 public:
  /// `toolchain` must outlive it.
  KernelBatch(const Toolchain& toolchain, bool strict, KernelEdit edit = nullptr)
      : toolchain_(toolchain), strict_(strict), edit_(std::move(edit)) {}

  /// Takes a kernel as render_c writes it; its position for `entry`. Equal texts are compiled once.
  std::size_t add(const std::string& source);
  std::size_t size() const { return functions_.size(); }

  /// Compiles and loads all that was added. Errors: those of compile_c and load_kernel.
  Status compile();

  /// Requires that compile() succeeded; lives as long as the batch.
  KernelEntry entry(std::size_t position) const { return entries_.at(position); }

 private:
  const Toolchain& toolchain_;
  bool strict_;
  KernelEdit edit_;
  std::map<std::string, std::size_t> positions_;  // by source
  std::vector<std::string> functions_;            // without preludes, under names of their own
  std::vector<KernelEntry> entries_;
  LoadedKernelPtr loaded_;
};

}  // namespace uop::reference
