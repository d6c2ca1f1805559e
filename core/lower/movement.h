// Movement ops as index maps: where an element of the result comes from.
#pragma once

#include <vector>

#include "core/ir/uop.h"
#include "core/lower/index_builder.h"

namespace uop {

/// The index into the source, and whether there is an element (always, but for PAD).
struct Moved {
  std::vector<UOp> index;
  UOp inside;
};

/// Requires `movement` to be a movement op, and one index for each axis of its shape.
Moved move_index(IndexBuilder& build, UOp movement, std::span<const UOp> index);

}  // namespace uop
