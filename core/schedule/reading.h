// How a kernel reads a node: at which index, in terms of the kernel's output loops. Two consumers that read a node at
// one index share its value; each further index computes it again.
//
// `read_through` is what others call.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/uop.h"

namespace uop {

/// The index along one axis: symbol + offset, or offset - symbol where flipped. Symbol 0 is the constant 0. The offset
/// wraps: below many PADs, outside of which nothing is read anyway, it may be anything.
struct AxisIndex {
  std::uint64_t symbol = 0;
  std::uint64_t offset = 0;
  bool flipped = false;
  bool operator==(const AxisIndex&) const = default;
};

/// Symbols up to here are the output loops: symbol i is the loop over axis i - 1. All others stand for the loops of
/// reductions, for loaded indices, and for what a RESHAPE makes of several axes.
inline constexpr std::uint64_t kLastLoopSymbol = 62;

struct Reading {
  std::uint32_t kernel = 0;
  std::uint64_t gate = 0;  // identifies the PADs and GATHERs on the way, outside of which nothing is read; 0: none
  std::vector<AxisIndex> axes;
};

/// The same number for equal readings, and for hardly any others; the same in every process.
std::uint64_t fingerprint(const Reading& r);

/// How the kernel whose output is `point` reads its own expression: each axis by its own loop.
Reading own_reading(UOp point, std::uint32_t kernel);

/// How source `i` of `u` is read by who reads `u` by `r`. Requires elements in `u`; no GRADIENT.
Reading read_through(UOp u, std::size_t i, const Reading& r);

}  // namespace uop
