// Gives each temporary its lifetime and its place in a run's scratch memory; those never alive together share storage.
//
// Requires: the plan's kernels have their final refs (lowering may have deleted reads). Ensures: temporaries whose
// lifetimes overlap do not overlap in memory, a kernel's output never shares storage with what it reads, every offset
// is a multiple of kScratchAlignment (plan.h). Why last: refs come from the lowered programs.
#pragma once

#include <span>

#include "core/ir/plan.h"

namespace uop {

/// Sets `plan.temps` and `plan.scratch_bytes` from plan.kernels. A temporary that no kernel touches gets no memory.
void plan_memory(Plan& plan, std::span<const TensorSpec> temps);

}  // namespace uop
