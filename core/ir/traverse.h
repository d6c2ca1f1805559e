// Walks over a graph without recursion, however deep it is.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>

#include "core/ir/uop.h"

namespace uop {

/// All nodes reachable from `roots`, each once, sources before consumers: depth-first, sources from left to right.
/// This is the canonical order of keys, schedules and parameter lists. `stop` (if given): nodes whose sources are not
/// entered.
std::vector<UOp> toposort(std::span<const UOp> roots, const std::function<bool(UOp)>& stop = nullptr);

/// Rebuilds bottom-up, into `target`: each node is made again of its rebuilt sources and then passed through
/// `replace(original, rebuilt)`, whose result stands for it. Nested targets compose: what a target contains is
/// replaced before the target is.
std::vector<UOp> rebuild(std::span<const UOp> roots, Graph& target, const std::function<UOp(UOp, UOp)>& replace);

/// Copies the nodes above `leaves` into `target`; a node found in `leaves` is replaced and not entered.
UOp copy_until(UOp root, Graph& target, const std::unordered_map<UOp, UOp, UOpHash>& leaves);

}  // namespace uop
