// A random case as another program that must give the same: with operands as constants that a compiler may fold, and
// with values stored in other places.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/reference/random_graph.h"

namespace uop::reference {

/// Elements as a vector of the graph: element i is item(i), by a chain of WHERE over an IOTA. Requires n > 0.
UOp vector_of(Graph& g, std::int64_t n, const std::function<UOp(std::int64_t)>& item);

/// Element i of `bytes` as a CONST.
UOp constant_at(Graph& g, DType dtype, const Bytes& bytes, std::int64_t i);

/// The case with most of its BUFFERs as constants: short ones element by element, long ones as their first element in
/// every place (which makes it a case of other values).
RandomCase with_constant_operands(const RandomCase& c);

/// The case with STAGE nodes taken out and put in by `seed`: nothing that shows where results are fully determined.
RandomCase restaged(const RandomCase& c, std::uint64_t seed);

}  // namespace uop::reference
