#include "core/ir/traverse.h"

#include <algorithm>
#include <unordered_map>

namespace uop {

std::vector<UOp> Walker::toposort(std::span<const UOp> roots) {
  std::vector<UOp> order;
  if (roots.empty()) return order;
  enum : char { kUnseen, kOpen, kDone };
  state_.resize(std::max(state_.size(), roots.front().graph().size()), kUnseen);
  std::vector<UOp> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const UOp u = stack.back();
    char& s = state_[u.id()];
    if (s == kUnseen) {
      s = kOpen;
      for (auto it = u.src().rbegin(); it != u.src().rend(); ++it)
        if (state_[it->id()] == kUnseen) stack.push_back(*it);
      continue;
    }
    stack.pop_back();
    if (s == kOpen) {
      s = kDone;
      order.push_back(u);
    }
  }
  for (const UOp u : order) state_[u.id()] = kUnseen;
  return order;
}

std::vector<UOp> toposort(std::span<const UOp> roots) {
  return Walker().toposort(roots);
}

std::vector<UOp> nodes_of(Op op, std::span<const UOp> roots) {
  std::vector<UOp> nodes;
  for (const UOp u : toposort(roots))
    if (u.op() == op) nodes.push_back(u);
  return nodes;
}

std::vector<UOp> rebuild(std::span<const UOp> roots, Graph& target, const std::function<UOp(UOp, UOp)>& replace) {
  if (roots.empty()) return {};
  std::vector<UOp> made(roots.front().graph().size());
  const bool same_graph = &roots.front().graph() == &target;
  for (const UOp u : toposort(roots)) {
    std::vector<UOp> src;
    src.reserve(u.src().size());
    for (const UOp s : u.src()) src.push_back(made[s.id()]);
    const bool unchanged = same_graph && std::equal(src.begin(), src.end(), u.src().begin());
    made[u.id()] = replace(u, unchanged ? u : target.make(u.op(), std::move(src), u.arg()));
  }
  std::vector<UOp> result;
  for (const UOp r : roots) result.push_back(made[r.id()]);
  return result;
}

UOp copy_until(UOp root, Graph& target, const std::function<UOp(UOp)>& leaf) {
  // Keyed by node, not by a vector over all ids: a schedule copies many small parts of one big graph.
  std::unordered_map<UOp, UOp, UOpHash> made;
  std::vector<UOp> stack{root};
  while (!stack.empty()) {
    const UOp u = stack.back();
    const auto [at, first_visit] = made.try_emplace(u, UOp());
    if (first_visit) {
      at->second = leaf(u);
      if (!at->second)
        for (auto it = u.src().rbegin(); it != u.src().rend(); ++it)
          if (!made.contains(*it)) stack.push_back(*it);
      continue;
    }
    stack.pop_back();
    if (at->second) continue;
    std::vector<UOp> src;
    src.reserve(u.src().size());
    for (const UOp s : u.src()) src.push_back(made.at(s));
    made[u] = target.make(u.op(), std::move(src), u.arg());
  }
  return made.at(root);
}

}  // namespace uop
