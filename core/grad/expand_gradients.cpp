#include "core/grad/expand_gradients.h"

#include <unordered_map>
#include <unordered_set>

#include "core/grad/derivatives.h"
#include "core/ir/build.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

using NodeSet = std::unordered_set<UOp, UOpHash>;
using NodeMap = std::unordered_map<UOp, UOp, UOpHash>;

/// Reverse-mode differentiation: one pass from the loss back gives the gradients of all of `wanted`.
StatusOr<NodeMap> backward(UOp loss, const NodeSet& wanted) {
  const std::vector<UOp> order = toposort({&loss, 1});
  NodeSet on_the_way;  // nodes that lead to a wanted one
  for (const UOp u : order) {
    bool leads = wanted.contains(u);
    for (std::size_t i = 0; i < u.src().size() && !leads; i++)
      leads = on_the_way.contains(u.src(i)) && passes_gradient(u, i);
    if (leads) on_the_way.insert(u);
  }
  NodeMap gradient{{loss, full_like(loss, 1)}};
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const UOp u = *it;
    const auto g = gradient.find(u);
    if (g == gradient.end() || !on_the_way.contains(u)) continue;
    const UOp of_u = g->second;
    if (u.graph().size() > kMaxExpandedNodes)
      return error(StatusCode::kResourceExhausted,
                   "with its gradients the graph has more than {} nodes\nremedy: cut the program into several graphs, "
                   "or ask for fewer and lower derivatives",
                   kMaxExpandedNodes);
    for (std::size_t i = 0; i < u.src().size(); i++) {
      const UOp s = u.src(i);
      if (!on_the_way.contains(s) || !passes_gradient(u, i)) continue;
      const StatusOr<UOp> part = derivative(u, i, of_u);
      if (!part.ok()) return part.status();
      UOp& sum = gradient[s];
      sum = sum ? binary(Op::kAdd, sum, *part) : *part;
    }
  }
  return gradient;
}

/// The GRADIENT nodes that contain no other, by loss.
std::unordered_map<UOp, NodeSet, UOpHash> innermost_gradients(std::span<const UOp> roots) {
  std::unordered_map<UOp, NodeSet, UOpHash> by_loss;
  NodeSet tainted;
  for (const UOp u : toposort(roots)) {
    bool contains = false;
    for (const UOp s : u.src()) contains |= tainted.contains(s);
    if (u.op() == Op::kGradient && !contains) by_loss[u.src(0)].insert(u.src(1));
    if (contains || u.op() == Op::kGradient) tainted.insert(u);
  }
  return by_loss;
}

}  // namespace

StatusOr<std::vector<UOp>> expand_gradients(std::span<const UOp> roots) {
  std::vector<UOp> expanded(roots.begin(), roots.end());
  for (int order = 1;; order++) {  // a gradient of a gradient is expanded after the inner one
    const auto by_loss = innermost_gradients(expanded);
    if (by_loss.empty()) return expanded;
    if (order > kMaxGradientOrder)
      return error(StatusCode::kResourceExhausted,
                   "GRADIENT in GRADIENT, more than {} deep; the limit is {}\nremedy: ask for a lower derivative",
                   kMaxGradientOrder, kMaxGradientOrder);
    std::unordered_map<UOp, NodeMap, UOpHash> gradients;
    for (const auto& [loss, wanted] : by_loss) {
      StatusOr<NodeMap> g = backward(loss, wanted);
      if (!g.ok()) return g.status();
      gradients.emplace(loss, *std::move(g));
    }
    expanded = rebuild(expanded, expanded.front().graph(), [&](UOp original, UOp made) {
      if (original.op() != Op::kGradient) return made;
      const auto of_loss = gradients.find(original.src(0));
      if (of_loss == gradients.end() || !by_loss.at(original.src(0)).contains(original.src(1))) return made;
      const auto found = of_loss->second.find(original.src(1));
      return found == of_loss->second.end() ? full_like(original.src(1), 0) : found->second;
    });
  }
}

}  // namespace uop
