// The verifier of plans: what must hold before anything is run by one. Asked of every plan that comes out of bytes,
// and cheap enough to ask of every plan that is made.
#pragma once

#include "core/ir/plan.h"
#include "core/support/status.h"

namespace uop {

/// OK where all of this holds, for whoever runs the plan:
///   - every size is within 0..kMaxElements; every ref, program, variable and alias exists; min <= max of a variable;
///   - a kernel's last ref, which it writes, is a temporary or a fresh output; an alias has its input's spec;
///   - a temporary, or a fresh output of any elements, is written before it is read or handed out;
///   - a temporary that is used lies within scratch_bytes, at a multiple of kScratchAlignment;
///   - it is touched by the kernels first..last only, and shares no byte with another alive between these.
/// Else DATA_LOSS with the kernel, temporary or output at fault.
Status verify_plan(const Plan& plan);

}  // namespace uop
