#include "core/schedule/stage_broadcast_compute.h"

#include <unordered_set>

#include "core/ir/traverse.h"

namespace uop {
namespace {

/// True where recomputing `u` costs at least kMinWork: ALU ops times elements, not entering what is stored anyway.
/// Stops counting once it knows, so that many EXPANDs over one deep chain stay linear.
bool is_expensive(UOp u) {
  const std::int64_t elements = u.numel();
  if (elements == 0) return false;
  const std::int64_t enough = (kMinWork + elements - 1) / elements;
  std::int64_t alu_ops = 0;
  std::unordered_set<UOp, UOpHash> seen;
  std::vector<UOp> stack{u};
  while (!stack.empty()) {
    const UOp x = stack.back();
    stack.pop_back();
    if (x.op() == Op::kBuffer || x.op() == Op::kReduce || x.op() == Op::kStage || x.op() == Op::kScatter) continue;
    if (!seen.insert(x).second) continue;
    if (is_alu(x.op()) && ++alu_ops >= enough) return true;
    stack.insert(stack.end(), x.src().begin(), x.src().end());
  }
  return false;
}

}  // namespace

std::vector<UOp> stage_broadcast_compute(std::span<const UOp> roots) {
  if (roots.empty()) return {};
  std::unordered_set<UOp, UOpHash> targets;
  for (const UOp u : toposort(roots)) {
    if (u.op() != Op::kExpand || u.numel() / kMinCopies < u.src(0).numel()) continue;
    UOp base = u.src(0);
    while (is_movement(base.op())) base = base.src(0);
    const bool computed = is_alu(base.op()) && base.op() != Op::kCast && base.op() != Op::kBitcast;
    if (computed && !base.shape().empty() && is_expensive(base)) targets.insert(base);
  }
  if (targets.empty()) return {roots.begin(), roots.end()};
  return rebuild(roots, roots.front().graph(), [&](UOp original, UOp made) {
    return targets.contains(original) ? made.graph().make(Op::kStage, {made}) : made;
  });
}

}  // namespace uop
