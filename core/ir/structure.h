// The structure of a graph as bytes: what the plan cache hashes for its key and compares in full on a hit. The one
// function others call is `structure_bytes`.
//
// Format (version 1). An integer is a LEB128 varint; a signed one is zigzagged first.
//   version byte 1
//   number of nodes, then each node in canonical order (traverse.h):
//     op         wire number; 0 is followed by nothing and never valid: only graphs of the wire have a structure
//     sources    their number, then for each the distance to it: (own position - its position), at least 1
//     argument   dtype number, reduce op's wire number (0: none), zigzag value, number of ints, zigzag ints
//                the value of a BUFFER and of a VARIABLE is its slot and written as the rank of its first appearance
//   number of roots, then their positions
// A slot's rank keeps apart "the same buffer twice" (one node) from "two buffers" (two nodes); its number is dropped.
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
/// cached plan. Errors: INVALID_ARGUMENT for corrupt bytes.
StatusOr<RootedGraph> graph_of_structure(std::string_view bytes);

/// Where two structures part.
struct StructureDifference {
  std::size_t position;  // how many leading nodes are the same
  std::string text;      // "node %7 is CONST f32 0.5, the nearest cached plan has CONST f32 0.25"
};

/// The first difference between `a` (the graph at hand) and `b` (the nearest cached plan): a node, else the roots.
/// For equal bytes the position is the number of nodes and the text says so.
StructureDifference first_difference(std::string_view a, std::string_view b);

}  // namespace uop
