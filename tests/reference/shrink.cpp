#include "tests/reference/shrink.h"

#include <algorithm>
#include <bit>

#include "core/ir/traverse.h"
#include "tests/reference/interpret.h"

namespace uop::reference {
namespace {

/// What a node becomes in the new graph, given itself as rebuilt there.
using Replacement = std::function<UOp(Graph&, UOp rebuilt)>;

class Shrinker {
 public:
  Shrinker(const RandomCase& c, const std::function<bool(const RandomCase&)>& fails, int budget)
      : fails_(fails), budget_(budget) {
    best_ = rebuilt(c, c.graph.roots, UOp(), nullptr);
  }

  RandomCase run() {
    for (bool progress = true; progress && budget_ > 0;) {
      progress = drop_roots();
      progress = lower_roots() || progress;
      progress = cut_nodes() || progress;
    }
    return std::move(best_);
  }

 private:
  /// The case with other roots, and `target` replaced.
  static RandomCase rebuilt(const RandomCase& c, const std::vector<UOp>& roots, UOp target,
                            const Replacement& replace) {
    RandomCase result{c.seed, {std::make_unique<Graph>(), {}}, c.inputs, c.same_buffer};
    Graph& g = *result.graph.graph;
    result.graph.roots = rebuild(roots, g, [&](UOp u, UOp made) { return u == target ? replace(g, made) : made; });
    drop_unread_inputs(result);
    return result;
  }

  static void drop_unread_inputs(RandomCase& c) {
    std::map<std::int64_t, Bytes> read;
    std::map<std::int64_t, std::int64_t> variables;
    for (const UOp u : toposort(c.graph.roots)) {
      const std::int64_t slot = u.arg().value;
      if (u.op() == Op::kVariable) variables[slot] = c.inputs.variables.at(slot);
      if (u.op() != Op::kBuffer) continue;
      read[slot] = c.inputs.buffers.at(slot);
      if (c.same_buffer.contains(slot)) read[c.same_buffer.at(slot)] = read[slot];
    }
    c.inputs = {std::move(read), std::move(variables)};
    std::erase_if(c.same_buffer, [&](const auto& pair) { return !c.inputs.buffers.contains(pair.first); });
  }

  /// Takes the candidate where it still fails.
  bool accept(RandomCase candidate) {
    if (budget_-- <= 0 || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool drop_roots() {
    bool progress = false;
    for (std::size_t i = 0; i < best_.graph.roots.size() && best_.graph.roots.size() > 1;) {
      std::vector<UOp> roots = best_.graph.roots;
      roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(i));
      if (accept(rebuilt(best_, roots, UOp(), nullptr)))
        progress = true;
      else
        i++;
    }
    return progress;
  }

  /// Asks for a source of a root in its place: any difference must show there already.
  bool lower_roots() {
    bool progress = false;
    for (std::size_t r = 0; r < best_.graph.roots.size(); r++)
      for (std::size_t i = 0; i < best_.graph.roots[r].src().size(); i++) {
        std::vector<UOp> roots = best_.graph.roots;
        roots[r] = roots[r].src(i);
        if (!accept(rebuilt(best_, roots, UOp(), nullptr))) continue;
        progress = true;
        i = static_cast<std::size_t>(-1);  // the sources of the new root are next
      }
    return progress;
  }

  /// Tries each node once, those near the inputs first, since an input in their place drops all that is below.
  bool cut_nodes() {
    bool progress = false;
    for (std::size_t at = 0; budget_ > 0; at++) {
      const std::vector<UOp> order = toposort(best_.graph.roots);
      if (at >= order.size()) break;
      if (cut(order[order.size() - 1 - at])) {
        progress = true;
        at = static_cast<std::size_t>(-1);  // the order is another one now: begin again
      }
    }
    return progress;
  }

  bool cut(UOp u) {
    if (u.op() == Op::kBuffer || u.op() == Op::kConst) return false;
    for (std::size_t i = 0; i < u.src().size(); i++)
      if (u.src(i).dtype() == u.dtype() && u.shape() == u.src(i).shape() &&
          accept(rebuilt(best_, best_.graph.roots, u, [i](Graph&, UOp made) { return made.src(i); })))
        return true;
    if (is_input(u)) return false;
    return accept(with_input_for(u));
  }

  /// A BUFFER under another shape: what `with_input_for` puts.
  static bool is_input(UOp u) { return u.op() == Op::kReshape && u.src(0).op() == Op::kBuffer; }

  RandomCase with_input_for(UOp u) const {
    const Bytes value = bytes_of(interpret({&u, 1}, best_.inputs, Numerics::kStrict).front());
    const std::int64_t slot = best_.inputs.buffers.empty() ? 0 : best_.inputs.buffers.rbegin()->first + 1;
    RandomCase with_slot{best_.seed, {}, best_.inputs, best_.same_buffer};
    with_slot.inputs.buffers[slot] = value;
    return rebuilt(with_slot, best_.graph.roots, u, [&](Graph& g, UOp) {
      const UOp buffer = g.make(Op::kBuffer, {}, {.dtype = u.dtype(), .value = slot, .ints = {u.numel()}});
      return u.shape() == buffer.shape() ? buffer : g.make(Op::kReshape, {buffer}, {.ints = u.shape()});
    });
  }

  const std::function<bool(const RandomCase&)>& fails_;
  int budget_;
  RandomCase best_;
};

}  // namespace

RandomCase shrunk(const RandomCase& c, const std::function<bool(const RandomCase&)>& fails, int budget) {
  return Shrinker(c, fails, budget).run();
}

}  // namespace uop::reference
