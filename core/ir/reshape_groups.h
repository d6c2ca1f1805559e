// Which axes of a RESHAPE belong together: [4,8,3] -> [32,3] is {4,8 -> 32} and {3 -> 3}.
#pragma once

#include <cstddef>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

/// One run of axes of each shape with the same number of elements; one of the two may be empty: [1] and [].
struct ReshapeGroup {
  std::size_t from_begin, from_end, to_begin, to_end;
};

/// The shortest such runs, in order. Axes that a RESHAPE leaves alone stay alone, so that only those it merges or
/// splits cost arithmetic. Requires equal, nonzero numbers of elements.
std::vector<ReshapeGroup> reshape_groups(const Shape& from, const Shape& to);

}  // namespace uop
