// A case under one set of options as a plan whose kernels are in a batch.
#pragma once

#include <vector>

#include "core/exec/compute_pool.h"
#include "core/ir/plan.h"
#include "core/support/options.h"
#include "tests/reference/kernel_batch.h"
#include "tests/reference/verdict.h"

namespace uop::reference {

class PlannedCase {
 public:
  /// Plans as the engine does, and adds the kernels to `kernels`. Errors: compile_plan's, verify_plan's.
  static StatusOr<PlannedCase> make(const RandomCase& c, const CompileOptions& options, KernelBatch& kernels);

  /// Runs on the inputs of `c`, which has the buffers and variables of the case that was planned; requires that
  /// `kernels` is compiled. `split`: kernels in as many slices as they can. Errors: those of `execute`; DATA_LOSS
  /// where an input was written to.
  StatusOr<Outputs> run(const RandomCase& c, const KernelBatch& kernels, bool split, BufferPool& pool,
                        ComputePool& threads) const;

 private:
  Plan plan_;
  std::vector<std::size_t> kernels_;       // of each program, its place in the batch
  std::vector<std::int64_t> input_slots_;  // of each input of the plan
  std::vector<std::int64_t> variable_slots_;
  std::vector<std::size_t> outputs_;  // of each root
};

}  // namespace uop::reference
