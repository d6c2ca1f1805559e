#include "core/schedule/materialization_points.h"

#include <algorithm>
#include <vector>

#include "core/ir/traverse.h"
#include "core/schedule/reading.h"

namespace uop {
namespace {

using NodeSet = std::unordered_set<UOp, UOpHash>;

/// Values up to this size are never too large to store.
constexpr std::int64_t kSmallValue = 1 << 16;

bool is_always_stored(UOp u) {
  return u.op() == Op::kStage || u.op() == Op::kScatter;
}

/// Walks from the roots to the inputs: when a node's turn comes, all its readers are known, and it is decided whether
/// it ends a kernel.
class PointFinder {
 public:
  PointFinder(std::span<const UOp> roots, const CompileOptions& options)
      : options_(options),
        order_(toposort(roots)),
        is_root_(roots.begin(), roots.end()),
        readings_(roots.empty() ? 0 : roots.front().graph().size()),
        tree_work_(readings_.size()) {}

  NodeSet run() {
    for (const UOp u : order_) tree_work_[u.id()] = tree_work(u);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) visit(*it);
    return std::move(points_);
  }

 private:
  struct Kernel {
    UOp point;
    std::int64_t work = 0;  // operations so far, one for each node and index
  };

  /// Operations to compute one element of `u` from stored values, counting what is shared as often as it is used.
  std::int64_t tree_work(UOp u) const {
    if (op_class(u.op()) == OpClass::kSource || is_always_stored(u) || u.op() == Op::kReduce) return 1;
    std::int64_t work = row(u.op()).cost;
    for (const UOp s : u.src()) work += tree_work_[s.id()];
    return std::min(work, kMaxKernelWork);
  }

  void visit(UOp u) {
    if (is_root_.contains(u) || ends_kernel(u)) {
      points_.insert(u);
      for (const Reading& r : readings_[u.id()]) kernels_[r.kernel].work++;  // it loads the value
      readings_[u.id()].clear();
      if (u.numel() == 0) return;
      kernels_.push_back({u});
      readings_[u.id()].push_back(own_reading(u, static_cast<std::uint32_t>(kernels_.size() - 1)));
    }
    const std::vector<Reading> readings = std::move(readings_[u.id()]);
    readings_[u.id()] = {};
    for (const Reading& r : readings) kernels_[r.kernel].work += row(u.op()).cost;
    if (u.numel() == 0) return;  // nothing of it is ever read
    for (std::size_t i = 0; i < u.src().size(); i++)
      for (const Reading& r : readings) add(u.src(i), read_through(u, i, r));
  }

  void add(UOp u, Reading r) {
    std::size_t pair = fingerprint(r);
    pair ^= (u.id() + 1) * 0x9e3779b97f4a7c15u;
    if (seen_.insert(pair).second) readings_[u.id()].push_back(std::move(r));
  }

  bool ends_kernel(UOp u) const {
    if (is_always_stored(u)) return true;
    if (op_class(u.op()) == OpClass::kSource || u.numel() == 0) return false;
    if (u.op() == Op::kReduce && !nests(u)) return true;
    return would_be_too_large(u) || is_read_too_often(u);
  }

  bool nests(UOp reduce) const {
    if (options_.fuse_reduce) return true;
    return options_.opt >= 1 && nests_for_free(reduce);
  }

  bool nests_for_free(UOp reduce) const {
    const std::vector<Reading>& readings = readings_[reduce.id()];
    if (readings.size() != 1 || readings[0].gate != 0) return false;
    std::uint64_t depends = 0;  // bit i: on the loop over output axis i
    for (const AxisIndex& axis : readings[0].axes) {
      if (axis.symbol > kLastLoopSymbol) return false;
      if (axis.symbol != 0) depends |= std::uint64_t{1} << (axis.symbol - 1);
    }
    // The loops of size 1 do not exist; of the others, `depends` must be the outermost ones, and at least the first,
    // or every slice of the parallel loop would compute the reduction again.
    const Shape& loops = kernels_[readings[0].kernel].point.shape();
    bool still_prefix = true;
    bool any_loop = false;
    for (std::size_t i = 0; i < loops.size(); i++) {
      if (loops[i] == 1) continue;
      const bool in = (depends >> i & 1) != 0;
      if (in && !still_prefix) return false;
      if (!in && !any_loop) return false;
      still_prefix &= in;
      any_loop = true;
    }
    return true;
  }

  bool would_be_too_large(UOp u) const {
    for (const Reading& r : readings_[u.id()]) {
      const bool ends_early = !is_movement(u.op()) && is_cheap_to_store(u, r);
      if (kernels_[r.kernel].work >= kMaxKernelWork * (ends_early ? 1 : kOversize)) return true;
    }
    return false;
  }

  bool is_read_too_often(UOp u) const {
    const std::vector<Reading>& readings = readings_[u.id()];
    if (seen_.size() > kReadingsPerNode * (order_.size() + 1'000)) return readings.size() > 1;
    return readings.size() > kMaxReadings && tree_work_[u.id()] >= kCheapWork && is_cheap_to_store(u, readings.front());
  }

  /// Not much larger than the result of the kernel that reads it.
  bool is_cheap_to_store(UOp u, const Reading& r) const {
    return u.numel() / 4 <= std::max(kernels_[r.kernel].point.numel(), kSmallValue);
  }

  const CompileOptions& options_;
  const std::vector<UOp> order_;
  const NodeSet is_root_;
  std::vector<std::vector<Reading>> readings_;  // by node
  std::vector<std::int64_t> tree_work_;         // by node
  std::vector<Kernel> kernels_;
  std::unordered_set<std::size_t> seen_;  // a number for each node and reading of it
  NodeSet points_;
};

}  // namespace

NodeSet materialization_points(std::span<const UOp> roots, const CompileOptions& options) {
  return PointFinder(roots, options).run();
}

}  // namespace uop
