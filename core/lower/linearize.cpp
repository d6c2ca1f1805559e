#include "core/lower/linearize.h"

#include <algorithm>
#include <unordered_map>

#include "core/ir/traverse.h"
#include "core/support/status.h"

namespace uop {
namespace {

using RangeSet = std::vector<UOp>;  // by id

RangeSet united(const RangeSet& a, const RangeSet& b) {
  RangeSet result;
  std::ranges::set_union(a, b, std::back_inserter(result), {}, &UOp::id, &UOp::id);
  return result;
}

/// Written out wherever it is used: naming it would only be longer.
bool is_trivial(UOp u) {
  return u.op() == Op::kConst || u.op() == Op::kRange || u.op() == Op::kParam || u.op() == Op::kVariable;
}

class Linearizer {
 public:
  explicit Linearizer(UOp sink) : sink_(sink), order_(toposort({&sink, 1})), info_(sink.graph().size()) {}

  LoopNest run() {
    find_dependences();
    place_loops();
    place_values();
    choose_names();
    emit();
    return std::move(nest_);
  }

 private:
  static constexpr std::uint32_t kTop = 0;

  struct Info {
    RangeSet depends;     // the loops a value changes in
    std::uint32_t scope;  // where it is computed
    std::uint32_t uses = 0;
    int depth = 0;  // of its expression, as far as it is written out in place
    bool named = false;
  };

  /// What a loop does with its values: a loop within it (an output loop, the inner loop of a reduction), or an effect
  /// (a STORE, or the ACCUMULATE whose innermost loop this is).
  struct Part {
    std::uint32_t loop;
    UOp effect;
  };

  /// A loop, with the values computed in its body; scope kTop is the function itself.
  struct Scope {
    UOp range;
    std::uint32_t parent = kTop;
    std::uint32_t depth = 0;
    std::vector<UOp> values;  // in topological order; an ACCUMULATE stands for its loops
    std::vector<Part> parts;  // after the values, in order
  };

  Info& info(UOp u) { return info_[u.id()]; }

  // What each value depends on; a reduction no longer depends on its own loops.
  void find_dependences() {
    for (const UOp u : order_) {
      RangeSet set;
      for (const UOp s : u.src()) set = united(set, info(s).depends);
      if (u.op() == Op::kRange) set = {u};
      if (u.op() == Op::kAccumulate)
        for (const UOp r : u.src().subspan(1)) std::erase(set, r);
      info(u).depends = std::move(set);
    }
  }

  std::uint32_t open_scope(UOp range, std::uint32_t parent) {
    const auto [at, is_new] = scope_of_.try_emplace(range, static_cast<std::uint32_t>(scopes_.size()));
    if (is_new) {
      Scope scope;
      scope.range = range;
      scope.parent = parent;
      scope.depth = scopes_[parent].depth + 1;
      scopes_.push_back(std::move(scope));
    }
    check(scopes_[at->second].parent == parent, "a loop in two places");
    return at->second;
  }

  /// The innermost of the loops in `set`; they must lie within one another.
  std::uint32_t innermost(const RangeSet& set) {
    std::uint32_t deepest = kTop;
    for (const UOp r : set) {
      const std::uint32_t s = scope_of_.at(r);
      if (scopes_[s].depth > scopes_[deepest].depth) deepest = s;
    }
    for (const UOp r : set) {
      std::uint32_t s = deepest;
      while (s != kTop && scopes_[s].range != r) s = scopes_[s].parent;
      check(s != kTop, "a value that depends on loops beside one another");
    }
    return deepest;
  }

  // Output loops first, then those of reductions from the outermost in: consumers come last in topological order.
  void place_loops() {
    scopes_.emplace_back();
    for (const UOp store : sink_.src()) {
      std::uint32_t scope = kTop;
      for (const UOp r : store.src().subspan(4)) {
        const bool known = scope_of_.contains(r);
        const std::uint32_t inner = open_scope(r, scope);
        if (!known) scopes_[scope].parts.push_back({inner, UOp()});
        scope = inner;
      }
      scopes_[scope].parts.push_back({kTop, store});
    }
    const std::vector<Part>& top = scopes_[kTop].parts;
    if (top.size() == 1 && !top[0].effect) nest_.parallel = scopes_[top[0].loop].range;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (it->op() != Op::kAccumulate) continue;
      const auto ranges = it->src().subspan(1);
      std::uint32_t scope = open_scope(ranges[0], innermost(info(*it).depends));
      for (const UOp r : ranges.subspan(1)) {
        const std::uint32_t inner = open_scope(r, scope);
        scopes_[scope].parts.push_back({inner, UOp()});
        scope = inner;
      }
      scopes_[scope].parts.push_back({kTop, *it});
    }
  }

  void place_values() {
    for (const UOp u : order_) {
      if (u.op() == Op::kSink) continue;
      info(u).scope = innermost(info(u).depends);
      if (!is_trivial(u) && u.op() != Op::kStore) scopes_[info(u).scope].values.push_back(u);
    }
  }

  /// Where the sources of `u` are read: in the innermost loop for what a reduction folds, else where u is computed.
  std::uint32_t scope_of_use(UOp u) {
    if (u.op() == Op::kAccumulate && u.src().size() > 1) return scope_of_.at(u.src().back());
    if (u.op() == Op::kStore && u.src().size() > 4) return scope_of_.at(u.src().back());
    return info(u).scope;
  }

  void choose_names() {
    for (const UOp u : order_) {
      Info& i = info(u);
      for (const UOp s : u.src())
        if (!is_trivial(s) && !info(s).named) i.depth = std::max(i.depth, info(s).depth + 1);
      i.named = u.op() == Op::kLoad || u.op() == Op::kAccumulate || i.depth >= kMaxExpressionDepth;
      for (const UOp s : u.src()) {
        Info& source = info(s);
        if (is_trivial(s)) continue;
        if (++source.uses > 1 || source.scope != scope_of_use(u)) source.named = true;
      }
    }
  }

  // Scopes nest as deep as there are axes and reductions, so the open ones stand on a stack of our own.
  void emit() {
    struct Frame {
      std::uint32_t scope;
      std::size_t next_value = 0;
      std::size_t next_part = 0;
    };
    std::vector<Frame> stack{{kTop}};
    const auto add = [&](StatementKind kind, UOp node) { nest_.statements.push_back({kind, node}); };
    const auto enter = [&](std::uint32_t scope) {
      add(StatementKind::kLoop, scopes_[scope].range);
      stack.push_back({scope});
    };
    while (!stack.empty()) {
      Frame& f = stack.back();
      const Scope& scope = scopes_[f.scope];
      if (f.next_value < scope.values.size()) {
        const UOp u = scope.values[f.next_value++];
        if (u.op() == Op::kAccumulate) {
          add(StatementKind::kAccumulator, u);
          enter(scope_of_.at(u.src(1)));
        } else if (info(u).named) {
          add(StatementKind::kLet, u);
        }
      } else if (f.next_part < scope.parts.size()) {
        const Part& part = scope.parts[f.next_part++];
        if (part.effect) {
          add(part.effect.op() == Op::kStore ? StatementKind::kStore : StatementKind::kUpdate, part.effect);
        } else {
          enter(part.loop);
        }
      } else {
        if (f.scope != kTop) add(StatementKind::kEnd, UOp());
        stack.pop_back();
      }
    }
  }

  const UOp sink_;
  const std::vector<UOp> order_;
  std::vector<Info> info_;
  std::vector<Scope> scopes_;
  std::unordered_map<UOp, std::uint32_t, UOpHash> scope_of_;
  LoopNest nest_;
};

}  // namespace

LoopNest linearize(UOp sink) {
  return Linearizer(sink).run();
}

}  // namespace uop
