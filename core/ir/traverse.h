// Walks over a graph without recursion, however deep it is.
#pragma once

#include <functional>
#include <span>

#include "core/ir/uop.h"

namespace uop {

/// All nodes reachable from `roots`, each once, sources before consumers: depth-first, sources from left to right.
/// This is the canonical order of keys, schedules and parameter lists.
std::vector<UOp> toposort(std::span<const UOp> roots);

/// Many such walks in one graph, each in time of what it reaches, not of the graph.
class Walker {
 public:
  std::vector<UOp> toposort(std::span<const UOp> roots);

 private:
  std::vector<char> state_;  // by node; all 0 between walks
};

/// The nodes of one op in canonical order: so a plan numbers its inputs (BUFFER) and its variables (VARIABLE).
std::vector<UOp> nodes_of(Op op, std::span<const UOp> roots);

/// Rebuilds bottom-up, into `target`: each node is made again of its rebuilt sources and then passed through
/// `replace(original, rebuilt)`, whose result stands for it. Nested targets compose: what a target contains is
/// replaced before the target is.
std::vector<UOp> rebuild(std::span<const UOp> roots, Graph& target, const std::function<UOp(UOp, UOp)>& replace);

/// Copies `root` and what it needs into `target`. `leaf(u)` may give a node of `target` that stands for u, which is
/// then not entered; it is asked once per node, in canonical order, and answers "no node" for what is to be copied.
UOp copy_until(UOp root, Graph& target, const std::function<UOp(UOp)>& leaf);

}  // namespace uop
