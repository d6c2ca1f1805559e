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

Status too_many(std::string_view what, std::size_t limit) {
  return error(
      StatusCode::kResourceExhausted,
      "the gradients of this graph take more than {} {}\nremedy: cut the program into several graphs, or ask for "
      "fewer and lower derivatives",
      limit, what);
}

/// What is differentiated with respect to what, losses in canonical order.
struct Losses {
  std::vector<UOp> order;
  std::unordered_map<UOp, NodeSet, UOpHash> wanted;
};

/// Reverse-mode differentiation: one pass from the loss back gives the gradients of all of `wanted`.
class Backward {
 public:
  StatusOr<NodeMap> run(UOp loss, const NodeSet& wanted) {
    const std::vector<UOp> order = walker_.toposort({&loss, 1});
    steps_ += order.size();
    if (steps_ > kMaxGradientSteps) return too_many("steps", kMaxGradientSteps);
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
      if (u.graph().size() > kMaxExpandedNodes) return too_many("nodes", kMaxExpandedNodes);
      const UOp of_u = g->second;
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

 private:
  Walker walker_;
  std::size_t steps_ = 0;
};

/// The GRADIENT nodes that contain no other, by loss.
Losses innermost_gradients(std::span<const UOp> roots) {
  Losses losses;
  NodeSet tainted;
  for (const UOp u : toposort(roots)) {
    bool contains = false;
    for (const UOp s : u.src()) contains |= tainted.contains(s);
    if (u.op() == Op::kGradient && !contains) {
      const auto [at, is_new] = losses.wanted.try_emplace(u.src(0));
      if (is_new) losses.order.push_back(u.src(0));
      at->second.insert(u.src(1));
    }
    if (contains || u.op() == Op::kGradient) tainted.insert(u);
  }
  return losses;
}

}  // namespace

StatusOr<std::vector<UOp>> expand_gradients(std::span<const UOp> roots, const Cancel& cancel) {
  std::vector<UOp> expanded(roots.begin(), roots.end());
  Backward backward;
  for (int order = 1;; order++) {  // a gradient of a gradient is expanded after the inner one
    const Losses losses = innermost_gradients(expanded);
    if (losses.order.empty()) return expanded;
    if (order > kMaxGradientOrder) return too_many("levels of GRADIENT in GRADIENT", kMaxGradientOrder);
    std::unordered_map<UOp, NodeMap, UOpHash> gradients;
    for (const UOp loss : losses.order) {
      if (const Status status = cancel.status(); !status.ok()) return status;
      StatusOr<NodeMap> g = backward.run(loss, losses.wanted.at(loss));
      if (!g.ok()) return g.status();
      NodeMap& kept = gradients[loss];
      for (const UOp wrt : losses.wanted.at(loss))
        if (const auto found = g->find(wrt); found != g->end()) kept.insert(*found);
    }
    expanded = rebuild(expanded, expanded.front().graph(), [&](UOp original, UOp made) {
      if (original.op() != Op::kGradient) return made;
      const auto of_loss = gradients.find(original.src(0));
      if (of_loss == gradients.end() || !losses.wanted.at(original.src(0)).contains(original.src(1))) return made;
      const auto found = of_loss->second.find(original.src(1));
      return found == of_loss->second.end() ? full_like(original.src(1), 0) : found->second;
    });
  }
}

}  // namespace uop
