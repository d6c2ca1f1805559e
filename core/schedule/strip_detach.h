// Removes DETACH: it stops gradients and means nothing to execution.
//
// Requires: gradients are expanded. Ensures: no DETACH. Why here: it must not look like a computed value to
// stage_broadcast_compute, nor become part of a kernel.
#pragma once

#include <span>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

std::vector<UOp> strip_detach(std::span<const UOp> roots);

}  // namespace uop
