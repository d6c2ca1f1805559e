// Cuts a graph into kernels at its materialization points.
//
// Requires: no GRADIENT, no DETACH; the points are those of materialization_points. Ensures: each kernel body reads
// only BUFFERs, numbered 0, 1, … in canonical order, so that kernels that do the same to different buffers have equal
// bodies; kernels stand in an order in which producers come before consumers. A root that already is a contiguous
// buffer costs nothing: its output is an alias of that input. A value of no elements costs no kernel. Why here: all
// that decides where to cut is done.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/plan.h"
#include "core/ir/uop.h"

namespace uop {

/// One kernel before lowering.
struct KernelBody {
  RootedGraph body;                      // one root
  std::vector<BufferRef> refs;           // what BUFFER slot i of the body is; last: the output
  std::vector<std::uint32_t> variables;  // what VARIABLE slot i of the body is, into Schedule::variables
  std::string name;
  std::uint64_t flops;
};

using NodeIndex = std::unordered_map<UOp, std::uint32_t, UOpHash>;

/// A graph, cut: what a plan says of everything but its kernels, and what is needed to make those one by one.
struct Schedule {
  std::vector<TensorSpec> inputs;
  std::vector<VariableSpec> variables;
  std::vector<TensorSpec> temps;
  std::vector<OutputSpec> outputs;  // one per root

  std::vector<UOp> points;  // where kernels end, producers first
  std::unordered_map<UOp, BufferRef, UOpHash> stored;
  NodeIndex input_index;
  NodeIndex variable_index;
};

Schedule split_kernels(std::span<const UOp> inputs, std::span<const UOp> variables, std::span<const UOp> roots,
                       const std::unordered_set<UOp, UOpHash>& points);

/// The kernel that ends at `point`, one of schedule.points, in a graph of its own.
KernelBody kernel_body(const Schedule& schedule, UOp point);

}  // namespace uop
