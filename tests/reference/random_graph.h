// Random well-formed graphs with data to run them on: every op and dtype, empty and 0-d tensors, shared nodes,
// duplicate roots, roots that are inputs, extreme values. The same seed gives the same case everywhere.
//
// `random_case` is what others call.
#pragma once

#include <map>
#include <string>

#include "core/ir/uop.h"
#include "tests/reference/tensor.h"

namespace uop::reference {

struct RandomCase {
  std::uint64_t seed = 0;
  RootedGraph graph;
  Inputs inputs;
  std::map<std::int64_t, std::int64_t> same_buffer;  // this slot is bound to the very buffer of that slot
};

/// About `steps` ops. No tensor has more than a few thousand elements, and no kernel, however it is fused, more work
/// than a few million operations.
RandomCase random_case(std::uint64_t seed, int steps);

/// Seed and listing of the case, with the inputs' first elements, for a report.
std::string to_text(const RandomCase& c);

}  // namespace uop::reference
