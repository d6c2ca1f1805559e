#include "core/ir/traverse.h"

#include <algorithm>

namespace uop {

std::vector<UOp> toposort(std::span<const UOp> roots, const std::function<bool(UOp)>& stop) {
  std::vector<UOp> order;
  if (roots.empty()) return order;
  enum : char { kUnseen, kOpen, kDone };
  std::vector<char> state(roots.front().graph().size(), kUnseen);
  std::vector<UOp> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const UOp u = stack.back();
    char& s = state[u.id()];
    if (s == kUnseen) {
      s = kOpen;
      if (!stop || !stop(u))
        for (auto it = u.src().rbegin(); it != u.src().rend(); ++it)
          if (state[it->id()] == kUnseen) stack.push_back(*it);
      continue;
    }
    stack.pop_back();
    if (s == kOpen) {
      s = kDone;
      order.push_back(u);
    }
  }
  return order;
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

UOp copy_until(UOp root, Graph& target, const std::unordered_map<UOp, UOp, UOpHash>& leaves) {
  const auto is_leaf = [&](UOp u) { return leaves.contains(u); };
  std::unordered_map<UOp, UOp, UOpHash> made;
  for (const UOp u : toposort({&root, 1}, is_leaf)) {
    if (const auto leaf = leaves.find(u); leaf != leaves.end()) {
      made[u] = leaf->second;
      continue;
    }
    std::vector<UOp> src;
    for (const UOp s : u.src()) src.push_back(made.at(s));
    made[u] = target.make(u.op(), std::move(src), u.arg());
  }
  return made.at(root);
}

}  // namespace uop
