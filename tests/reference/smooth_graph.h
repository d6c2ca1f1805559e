// Random graphs that have a gradient everywhere, in f64, with values that stay near one, so that differences can be
// held against the gradient.
//
// `smooth_case` is what others call.
#pragma once

#include "tests/reference/random_graph.h"

namespace uop::reference {

/// The roots are the loss and its GRADIENT with respect to the BUFFERs of slots 0 and 1, in this order. The same seed
/// gives the same case everywhere.
RandomCase smooth_case(std::uint64_t seed, int steps);

}  // namespace uop::reference
