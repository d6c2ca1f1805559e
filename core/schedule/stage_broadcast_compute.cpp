#include "core/schedule/stage_broadcast_compute.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/ir/traverse.h"

namespace uop {
namespace {

bool is_stored(UOp u) {
  return u.op() == Op::kBuffer || u.op() == Op::kReduce || u.op() == Op::kStage || u.op() == Op::kScatter;
}

/// Tells which values are expensive to recompute.
class WorkCounter {
 public:
  explicit WorkCounter(std::span<const UOp> order)
      : bounds_(order.empty() ? 0 : order.back().graph().size()), steps_left_(kStepsPerNode * order.size()) {
    for (const UOp u : order) {
      if (is_stored(u)) continue;
      Bounds b;
      for (const UOp s : u.src()) {
        b.least = std::max(b.least, bounds_[s.id()].least);
        b.most = std::min(b.most + bounds_[s.id()].most, kMinWork);
      }
      const std::int64_t own = is_alu(u.op()) ? 1 : 0;
      bounds_[u.id()] = {b.least + own, b.most + own};
    }
  }

  /// True where recomputing `u` costs at least kMinWork: ALU ops times elements, not entering what is stored anyway.
  bool is_expensive(UOp u) {
    const std::int64_t elements = u.numel();
    if (elements == 0) return false;
    const std::int64_t enough = (kMinWork + elements - 1) / elements;
    if (bounds_[u.id()].least >= enough) return true;
    if (bounds_[u.id()].most < enough) return false;
    std::int64_t alu_ops = 0;
    std::unordered_set<UOp, UOpHash> seen;
    std::vector<UOp> stack{u};
    while (!stack.empty()) {
      if (steps_left_ == 0) return true;  // storing is never wrong
      steps_left_--;
      const UOp x = stack.back();
      stack.pop_back();
      if (is_stored(x) || !seen.insert(x).second) continue;
      if (is_alu(x.op()) && ++alu_ops >= enough) return true;
      stack.insert(stack.end(), x.src().begin(), x.src().end());
    }
    return false;
  }

 private:
  /// What the number of ALU ops below a node lies between: those of its longest path, those of its expression tree.
  struct Bounds {
    std::int64_t least = 0;
    std::int64_t most = 0;
  };

  /// Most nodes looked at to count exactly, over all values, for each node of the graph: keeps the pass linear.
  static constexpr std::size_t kStepsPerNode = 256;

  std::vector<Bounds> bounds_;  // by node
  std::size_t steps_left_;
};

}  // namespace

std::vector<UOp> stage_broadcast_compute(std::span<const UOp> roots, const CompileOptions& options) {
  const bool is_off = !options.stage || options.fuse_reduce;
  if (roots.empty() || is_off) return {roots.begin(), roots.end()};
  const std::vector<UOp> order = toposort(roots);
  WorkCounter work(order);
  std::unordered_set<UOp, UOpHash> targets;
  std::vector<UOp> below_movement(roots.front().graph().size());  // by node: what it moves, or itself
  for (const UOp u : order) {
    below_movement[u.id()] = is_movement(u.op()) ? below_movement[u.src(0).id()] : u;
    if (u.op() != Op::kExpand || u.numel() / kMinCopies < u.src(0).numel()) continue;
    const UOp base = below_movement[u.id()];
    const bool computed = is_alu(base.op()) && base.op() != Op::kCast && base.op() != Op::kBitcast;
    if (computed && !base.shape().empty() && work.is_expensive(base)) targets.insert(base);
  }
  if (targets.empty()) return {roots.begin(), roots.end()};
  return rebuild(roots, roots.front().graph(), [&](UOp original, UOp made) {
    return targets.contains(original) ? made.graph().make(Op::kStage, {made}) : made;
  });
}

}  // namespace uop
