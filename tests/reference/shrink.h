// Makes a failing case small: fewer roots, nodes replaced by one of their sources, by an input that holds their value,
// or by a constant, for as long as it goes on failing.
#pragma once

#include <functional>

#include "tests/reference/random_graph.h"

namespace uop::reference {

/// The smallest case found for which `fails` holds; requires that it holds for `c`. Calls `fails` at most `budget`
/// times.
RandomCase shrunk(const RandomCase& c, const std::function<bool(const RandomCase&)>& fails, int budget = 300);

}  // namespace uop::reference
