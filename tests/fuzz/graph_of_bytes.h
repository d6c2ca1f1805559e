// A graph that a fuzzer shapes: any bytes are a program, and changing a byte changes a node.
//
// `program_of_bytes` is what others call.
#pragma once

#include <cstdint>
#include <span>

#include "core/support/options.h"
#include "tests/reference/random_graph.h"

namespace uop::fuzz {

struct Program {
  CompileOptions options;
  reference::RandomCase graph;  // with data for its inputs
};

/// Two bytes choose the options and the data; then each node takes a few, until none is left. A node that its bytes
/// do not make well-formed, or that would cost too much, is left out. May hold GRADIENT. No tensor has more than a
/// hundred elements.
Program program_of_bytes(std::span<const std::uint8_t> bytes);

}  // namespace uop::fuzz
