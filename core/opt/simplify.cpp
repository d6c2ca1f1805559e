#include "core/opt/simplify.h"

#include <bit>
#include <map>

#include "core/ir/build.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

const std::vector<const Rule*>& rules_for(Op op) {
  static const std::map<Op, std::vector<const Rule*>> by_op = [] {
    std::map<Op, std::vector<const Rule*>> map;
    for (const Rule& r : simplification_rules()) map[r.pattern.op].push_back(&r);
    return map;
  }();
  static const std::vector<const Rule*> none;
  const auto found = by_op.find(op);
  return found == by_op.end() ? none : found->second;
}

bool is_const(UOp u) {
  return u.op() == Op::kConst;
}
Scalar value_of(UOp u) {
  return {u.dtype(), std::bit_cast<std::uint64_t>(u.arg().value)};
}

/// The constant that an elementwise op on constants is, or no node.
UOp folded(UOp u) {
  std::vector<Scalar> operands;
  for (const UOp s : u.src()) {
    if (!is_const(s)) return UOp();
    operands.push_back(value_of(s));
  }
  const std::optional<Scalar> value = evaluate(u.op(), u.dtype(), operands);
  return value ? constant(u.graph(), *value) : UOp();
}

/// A load whose gate is decided.
UOp simplified_load(UOp u) {
  if (u.src().size() < 3 || !is_const(u.src(2))) return UOp();
  if (value_of(u.src(2)).bits == 0) return constant(u.graph(), Scalar{u.dtype(), 0});
  return u.graph().make(Op::kLoad, {u.src(0), u.src(1)});
}

/// Makes one node simple whose sources are simple already.
class NodeSimplifier {
 public:
  UOp simplified(UOp u) {
    while (const UOp next = one_step(u)) u = next;
    return u;
  }

 private:
  UOp one_step(UOp u) {
    check(++steps_ <= kMaxSimplifySteps, "the rewrite rules do not come to an end");
    if (u.op() == Op::kLoad) return simplified_load(u);
    if (!is_alu(u.op())) return UOp();
    if (const UOp f = folded(u)) return f;
    if (u.op() == Op::kCast && u.dtype() == u.src(0).dtype()) return u.src(0);
    if (has_law(u.op(), 'c') && is_const(u.src(0)) && !is_const(u.src(1)))
      return u.graph().make(u.op(), {u.src(1), u.src(0)});
    for (const Rule* rule : rules_for(u.op())) {
      const auto make = [&](Op op, std::vector<UOp> src) { return simplified(u.graph().make(op, std::move(src))); };
      if (const UOp r = apply_rule(*rule, u, make)) return r;
    }
    return UOp();
  }

  int steps_ = 0;  // also of the nodes that rules make, so it bounds the recursion too
};

}  // namespace

std::span<const Rule> simplification_rules() {
  static const std::vector<Rule> rules = {
#define RULE(kinds, pattern, replacement) parse_rule(kinds, pattern, replacement),
#include "core/opt/rules.inc"
#undef RULE
  };
  return rules;
}

UOp simplify(UOp sink) {
  return rebuild({&sink, 1}, sink.graph(), [](UOp, UOp made) { return NodeSimplifier().simplified(made); }).front();
}

}  // namespace uop
