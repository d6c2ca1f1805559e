// Movement ops become index arithmetic: a kernel body over shapes becomes scalar expressions over loop counters.
//
// Requires: a body of split_kernels (only BUFFER, CONST, IOTA, VARIABLE, movement, REDUCE, GATHER and elementwise ops;
// SCATTER at most as the root). Ensures: a SINK of STOREs to PARAM `output_slot` in which every value is scalar: no
// movement op, no REDUCE, no shape is left. BUFFER slot i became PARAM slot i. The output's loops are RANGEs in axis
// order, a reduction is an ACCUMULATE over RANGEs of its own, a PAD is a gate on the loads below it (so that none
// strays) and a WHERE. Why here: what the loops are is decided by the cut; what they look like is opt's business.
#pragma once

#include "core/ir/uop.h"

namespace uop {

/// Lowers `body` in its own graph; returns the SINK.
UOp lower(UOp body, std::int64_t output_slot);

}  // namespace uop
