#include "core/schedule/nest_reductions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/ir/traverse.h"

namespace uop {
namespace {

/// The output loops of a kernel that an index changes with: bit i is output axis i.
using Loops = std::uint64_t;

/// A loop of a reduction, or an index that is not the loop counters themselves: nothing nests below one.
constexpr Loops kOther = Loops{1} << 63;

/// How a node is read: by which kernel, and what each of its axes changes with.
struct Reading {
  UOp kernel;  // its materialization point
  std::vector<Loops> axes;
  bool operator==(const Reading&) const = default;
};

/// A node read in more ways than this is treated as read in many: its reductions end kernels.
constexpr std::size_t kMaxReadings = 8;

class NestFinder {
 public:
  explicit NestFinder(std::span<const UOp> roots) : roots_(roots.begin(), roots.end()) {}

  std::unordered_set<UOp, UOpHash> run() {
    const std::vector<UOp> order = toposort(roots_);
    const std::unordered_set<UOp, UOpHash> is_root(roots_.begin(), roots_.end());
    for (auto it = order.rbegin(); it != order.rend(); ++it) {  // consumers first
      const UOp u = *it;
      const bool always_stored = is_root.contains(u) || u.op() == Op::kStage || u.op() == Op::kScatter;
      if (u.op() == Op::kReduce && !always_stored && nests(u)) nested_.insert(u);
      if (always_stored || (u.op() == Op::kReduce && !nested_.contains(u))) begin_kernel(u);
      for (const Reading& r : readings_[u]) pass_on(u, r);
      readings_.erase(u);
    }
    return std::move(nested_);
  }

 private:
  bool nests(UOp u) {
    const std::vector<Reading>& readings = readings_[u];
    if (readings.size() != 1 || many_.contains(u)) return false;
    Loops depends = 0;
    for (const Loops l : readings[0].axes) depends |= l;
    if ((depends & kOther) != 0) return false;
    // The loops of size 1 do not exist; of the others, `depends` must be the outermost ones, and at least the first,
    // or every slice of the parallel loop would compute the reduction again.
    const Shape& loops = readings[0].kernel.shape();
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

  void begin_kernel(UOp u) {
    many_.erase(u);
    if (u.shape().size() > 62 || u.numel() == 0) return;
    Reading own{u, {}};
    for (std::size_t i = 0; i < u.shape().size(); i++) own.axes.push_back(u.shape()[i] == 1 ? 0 : Loops{1} << i);
    if (u.op() == Op::kScatter) std::ranges::fill(own.axes, kOther);
    readings_[u] = {own};
  }

  /// What the sources of `u` are read by where `u` is read by `r`.
  void pass_on(UOp u, const Reading& r) {
    switch (op_class(u.op())) {
      case OpClass::kMovement: add(u.src(0), {r.kernel, moved(u, r.axes)}); break;
      case OpClass::kReduce: {
        Reading inner = r;
        inner.axes.resize(u.src(0).shape().size(), kOther);
        add(u.src(0), std::move(inner));
        break;
      }
      case OpClass::kIndexed: {
        const Reading opaque{r.kernel, std::vector<Loops>(u.src(0).shape().size(), kOther)};
        for (const UOp s : u.src()) add(s, opaque);
        break;
      }
      default:
        for (const UOp s : u.src()) add(s, r);
    }
    if (many_.contains(u))
      for (const UOp s : u.src()) many_.insert(s);
  }

  void add(UOp u, Reading r) {
    std::vector<Reading>& all = readings_[u];
    if (std::ranges::find(all, r) != all.end()) return;
    if (all.size() == kMaxReadings) {
      many_.insert(u);
    } else {
      all.push_back(std::move(r));
    }
  }

  static std::vector<Loops> moved(UOp u, const std::vector<Loops>& axes) {
    const Shape& from = u.src(0).shape();
    const auto& ints = u.arg().ints;
    std::vector<Loops> source(from.size(), 0);
    switch (u.op()) {
      case Op::kPermute:
        for (std::size_t i = 0; i < axes.size(); i++) source[static_cast<std::size_t>(ints[i])] = axes[i];
        break;
      case Op::kExpand:
        for (std::size_t i = 0; i < axes.size(); i++) source[i] = from[i] == 1 ? 0 : axes[i];
        break;
      case Op::kReshape: return reshaped(from, u.shape(), axes);
      default:  // PAD, SHRINK, FLIP: another index than the counters
        std::ranges::fill(source, kOther);
    }
    return source;
  }

  /// Axes of size 1 come and go; anything else of a RESHAPE is another index than the counters.
  static std::vector<Loops> reshaped(const Shape& from, const Shape& to, const std::vector<Loops>& axes) {
    std::vector<Loops> source(from.size(), 0);
    std::size_t j = 0;
    for (std::size_t i = 0; i < from.size(); i++) {
      if (from[i] == 1) continue;
      while (j < to.size() && to[j] == 1) j++;
      const bool same = j < to.size() && to[j] == from[i];
      if (!same) return std::vector<Loops>(from.size(), kOther);
      source[i] = axes[j++];
    }
    return source;
  }

  const std::vector<UOp> roots_;
  std::unordered_map<UOp, std::vector<Reading>, UOpHash> readings_;
  std::unordered_set<UOp, UOpHash> many_;  // read in more ways than are kept
  std::unordered_set<UOp, UOpHash> nested_;
};

}  // namespace

std::unordered_set<UOp, UOpHash> nest_reductions(std::span<const UOp> roots) {
  return NestFinder(roots).run();
}

}  // namespace uop
