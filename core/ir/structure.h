// The structure of a graph as bytes: what the plan cache hashes for its key and compares in full on a hit. The one
// function others call is `structure_bytes`.
//
// Format (version 1). An integer is a LEB128 varint; a signed one is zigzagged first.
//   version byte
//   number of nodes, then each node in canonical order (traverse.h):
//     wire number of the op; number of sources, and for each how far back it is (own position - its position, >= 1);
//     then the fields that the op takes (argument.h): dtype number; value; wire number of the reduce op (0: none);
//     number of ints, and the ints. The slot of a BUFFER or VARIABLE is left out: its position says which one it is.
//   number of roots, then their positions
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/uop.h"

namespace uop {

/// Canonical bytes of the structure: equal exactly for graphs that are the same program on different data.
/// Requires: ops of the wire only (number != 0).
std::string structure_bytes(std::span<const UOp> roots);

/// The nodes again, slots numbered in canonical order (BUFFER and VARIABLE apart, each from 0), e.g. to explain a
/// cached plan. Errors: DATA_LOSS for corrupt bytes.
StatusOr<RootedGraph> graph_of_structure(std::string_view bytes);

/// How many bytes of nodes two structures have in common from the start: how near they are, at the speed of memory.
std::size_t common_prefix(std::string_view a, std::string_view b);

/// Where two structures part.
struct StructureDifference {
  std::size_t position;  // how many leading nodes are the same
  std::string text;      // "node %7 is CONST f32 0.5, the nearest cached plan has CONST f32 0.25"
};

/// The first difference between `a` (the graph at hand) and `b` (the nearest cached plan): a node, else the roots.
/// For equal bytes the position is the number of nodes and the text says so.
StructureDifference first_difference(std::string_view a, std::string_view b);

}  // namespace uop
