#include "core/ir/loop_nest.h"

#include <unordered_map>

#include "core/ir/text.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

std::string_view name(StatementKind kind) {
  switch (kind) {
    case StatementKind::kLoop: return "for";
    case StatementKind::kEnd: return "end";
    case StatementKind::kLet: return "let";
    case StatementKind::kAccumulator: return "accumulator";
    case StatementKind::kUpdate: return "update";
    case StatementKind::kStore: return "store";
  }
  return "?";
}

}  // namespace

std::string to_text(const LoopNest& nest) {
  std::vector<UOp> stores;
  for (const Statement& s : nest.statements)
    if (s.kind == StatementKind::kStore) stores.push_back(s.node);
  std::unordered_map<UOp, std::size_t, UOpHash> numbers;
  for (const UOp u : toposort(stores)) numbers.emplace(u, numbers.size());
  std::string text = to_text(stores);
  std::size_t depth = 0;
  for (const Statement& s : nest.statements) {
    if (s.kind == StatementKind::kEnd) {
      depth--;
      continue;
    }
    const bool is_sliced = s.kind == StatementKind::kLoop && s.node == nest.parallel;
    text +=
        fmt::format("{:{}}{} %{}{}\n", "", 2 * depth, name(s.kind), numbers.at(s.node), is_sliced ? " in slices" : "");
    if (s.kind == StatementKind::kLoop) depth++;
  }
  return text;
}

}  // namespace uop
