#include "core/ir/loop_nest.h"

#include <algorithm>
#include <limits>
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

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMost / a ? kMost : a * b;
}

}  // namespace

std::uint64_t work_of_iteration(const LoopNest& nest) {
  std::uint64_t work = 0;
  std::vector<std::uint64_t> repeats{1};  // of what stands in the open loops
  for (const Statement& s : nest.statements) {
    switch (s.kind) {
      case StatementKind::kLoop:
        repeats.push_back(s.node == nest.parallel
                              ? repeats.back()
                              : times(repeats.back(), static_cast<std::uint64_t>(s.node.arg().ints[0])));
        break;
      case StatementKind::kEnd: repeats.pop_back(); break;
      case StatementKind::kLet:
      case StatementKind::kAccumulator:
      case StatementKind::kUpdate:
      case StatementKind::kStore: work += std::min(repeats.back(), kMost - work); break;
    }
  }
  return work;
}

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
