#include "core/lower/lower.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/ir/build.h"
#include "core/lower/index_builder.h"
#include "core/lower/movement.h"

namespace uop {
namespace {

using Index = std::vector<UOp>;

/// What is asked of the lowering: the value of `node` at `index`, where `gate` holds.
struct Request {
  UOp node;
  Index index;
  UOp gate;
};

class Lowering {
 public:
  explicit Lowering(Graph& graph) : g_(graph), build_(graph) {}

  UOp run(UOp body, std::int64_t output_slot) {
    const UOp out = g_.make(Op::kParam, {}, {.dtype = body.dtype(), .value = output_slot, .ints = {body.numel()}});
    return g_.make(Op::kSink, body.op() == Op::kScatter ? scatter_stores(body, out) : plain_store(body, out));
  }

 private:
  // A loop over one axis; an axis of size 1 needs none.
  UOp new_range(std::int64_t size) {
    return size == 1 ? build_.number(0)
                     : g_.make(Op::kRange, {}, {.dtype = DType::kI64, .value = next_range_++, .ints = {size}});
  }

  Index new_ranges(std::span<const std::int64_t> shape) {
    Index index;
    for (const std::int64_t size : shape) index.push_back(new_range(size));
    return index;
  }

  UOp store(UOp out, UOp at, UOp value, UOp gate, std::optional<Op> op, const Index& nest) {
    std::vector<UOp> src{out, at, value, gate};
    std::ranges::copy_if(nest, std::back_inserter(src), [](UOp r) { return r.op() == Op::kRange; });
    return g_.make(Op::kStore, src, {.op = op});
  }

  std::vector<UOp> plain_store(UOp body, UOp out) {
    const Index index = new_ranges(body.shape());
    const UOp value = value_of({body, index, build_.always()});
    return {store(out, build_.flatten(index, body.shape()), value, build_.always(), std::nullopt, index)};
  }

  // Two nests below the loops over all other axes: first the base is copied, then the source is stored or added in
  // index order, so that the result does not depend on how the outer loops are split.
  std::vector<UOp> scatter_stores(UOp body, UOp out) {
    const UOp base = body.src(0);
    const UOp source = body.src(2);
    const auto axis = static_cast<std::size_t>(body.arg().value);
    Shape outer = base.shape();
    outer[axis] = 1;
    Index index = new_ranges(outer);
    const auto nest_with = [&](UOp inner) {
      Index nest = index;
      nest.push_back(inner);
      return nest;
    };
    index[axis] = new_range(base.shape()[axis]);
    const UOp copy_value = value_of({base, index, build_.always()});
    const UOp copy_range = index[axis];
    const UOp copy_at = build_.flatten(index, base.shape());
    index[axis] = build_.number(0);
    std::vector<UOp> stores{store(out, copy_at, copy_value, build_.always(), std::nullopt, nest_with(copy_range))};
    if (source.numel() == 0) return stores;

    index[axis] = new_range(source.shape()[axis]);
    const UOp range = index[axis];
    const UOp target = index_value(value_of({body.src(1), index, build_.always()}));
    const UOp value = value_of({source, index, build_.always()});
    index[axis] = target;
    const UOp at = build_.flatten(index, base.shape());
    const UOp gate = inside(target, base.shape()[axis]);
    index[axis] = build_.number(0);
    stores.push_back(store(out, at, value, gate, body.arg().op, nest_with(range)));
    return stores;
  }

  // A loaded index as an index. The CAST, though it may be from i64 to i64, keeps the index builder from looking into
  // arithmetic of the user's that may be negative or wrap.
  UOp index_value(UOp value) { return g_.make(Op::kCast, {value}, {.dtype = DType::kI64}); }

  UOp inside(UOp index, std::int64_t size) { return build_.both(build_.at_least(index, 0), build_.below(index, size)); }

  // -------------------------------------------------------------------------------------------------------------------
  // Values, with a stack of requests instead of recursion. A request is answered when all it depends on are.

  UOp value_of(const Request& wanted) {
    std::vector<Request> stack{wanted};
    while (!stack.empty()) {
      const Request request = stack.back();
      if (find(request)) {
        stack.pop_back();
        continue;
      }
      std::vector<Request> needs;
      const UOp value = answer(request, needs);
      if (value) {
        answers_[key(request)] = value;
        stack.pop_back();
      } else {
        check(!needs.empty(), "a request that is neither answered nor needs anything");
        stack.insert(stack.end(), needs.rbegin(), needs.rend());
      }
    }
    return find(wanted);
  }

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // node, index tuple, gate
  struct KeyHash {
    std::size_t operator()(const Key& k) const noexcept {
      const auto [a, b, c] = k;
      return (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu) ^ (c * 0x165667b19e3779f9u);
    }
  };

  Key key(const Request& r) {
    const auto tuple = tuples_.try_emplace(ids(r.index), static_cast<std::uint32_t>(tuples_.size())).first->second;
    return {r.node.id(), tuple, r.gate.id()};
  }

  static std::vector<std::uint32_t> ids(const Index& index) {
    std::vector<std::uint32_t> list;
    for (const UOp u : index) list.push_back(u.id());
    return list;
  }

  UOp find(const Request& r) {
    const auto found = answers_.find(key(r));
    return found == answers_.end() ? UOp() : found->second;
  }

  /// The values of `requests`; what is missing is added to `needs`, and then the result is empty.
  std::vector<UOp> gather_values(std::vector<Request> requests, std::vector<Request>& needs) {
    std::vector<UOp> values;
    for (Request& r : requests) {
      if (const UOp v = find(r)) {
        values.push_back(v);
      } else {
        needs.push_back(std::move(r));
      }
    }
    return needs.empty() ? values : std::vector<UOp>();
  }

  /// The answer to one request, or no node, and in `needs` what has to be answered first.
  UOp answer(const Request& r, std::vector<Request>& needs) {
    const UOp u = r.node;
    if (u.numel() == 0) return zero(u.dtype());  // never observed: the value has no element
    switch (op_class(u.op())) {
      case OpClass::kSource: return source(r);
      case OpClass::kMovement: return moved(r, needs);
      case OpClass::kReduce: return reduced(r, needs);
      case OpClass::kIndexed: return gathered(r, needs);
      case OpClass::kAlu: return computed(r, needs);
      case OpClass::kStage: {
        const std::vector<UOp> v = gather_values({{u.src(0), r.index, r.gate}}, needs);
        return v.empty() ? UOp() : v[0];
      }
      case OpClass::kGradient:
      case OpClass::kLoop: break;
    }
    check(false, fmt::format("{} does not belong into a kernel body", name(u.op())));
    return UOp();
  }

  UOp zero(DType dtype) { return constant(g_, Scalar{dtype, 0}); }

  /// `value`, which was asked for under `gate`, where `inside` holds, else 0. A load of that gate is 0 by itself.
  UOp zero_outside(UOp inside, UOp value, UOp gate) {
    const bool gives_zero = value.op() == Op::kLoad && value.src().size() == 3 && value.src(2) == gate;
    return gives_zero || build_.is_always(inside) ? value : where(inside, value, zero(value.dtype()));
  }

  UOp source(const Request& r) {
    const UOp u = r.node;
    switch (u.op()) {
      case Op::kBuffer: {
        const UOp param = g_.make(Op::kParam, {}, u.arg());
        std::vector<UOp> src{param, r.index[0]};
        if (build_.is_never(r.gate)) return zero(u.dtype());
        if (!build_.is_always(r.gate)) src.push_back(r.gate);
        return g_.make(Op::kLoad, src);
      }
      case Op::kIota: return g_.make(Op::kCast, {r.index[0]}, {.dtype = u.dtype()});
      default: return u;  // CONST, VARIABLE: scalars already
    }
  }

  UOp computed(const Request& r, std::vector<Request>& needs) {
    std::vector<Request> operands;
    for (const UOp s : r.node.src()) operands.push_back({s, r.index, r.gate});
    const std::vector<UOp> values = gather_values(std::move(operands), needs);
    return values.empty() ? UOp() : g_.make(r.node.op(), values, r.node.arg());
  }

  UOp moved(const Request& r, std::vector<Request>& needs) {
    const Moved to = move_index(build_, r.node, r.index);
    if (build_.is_never(to.inside)) return zero(r.node.dtype());
    const UOp gate = build_.both(r.gate, to.inside);
    const std::vector<UOp> v = gather_values({{r.node.src(0), to.index, gate}}, needs);
    if (v.empty()) return UOp();
    return zero_outside(to.inside, v[0], gate);
  }

  UOp reduced(const Request& r, std::vector<Request>& needs) {
    const UOp x = r.node.src(0);
    const Op op = *r.node.arg().op;
    const DType in = is_half(x.dtype()) ? DType::kF32 : x.dtype();  // halves accumulate in f32 and round once
    const UOp identity = constant(g_, reduce_identity(op, in));
    if (x.numel() == 0) return cast(identity, r.node.dtype());
    const auto [at, is_new] = loops_.try_emplace(key(r));
    if (is_new) at->second = new_ranges(std::span(x.shape()).last(static_cast<std::size_t>(r.node.arg().value)));
    Index index = r.index;
    index.insert(index.end(), at->second.begin(), at->second.end());
    const std::vector<UOp> v = gather_values({{x, index, r.gate}}, needs);
    if (v.empty()) return UOp();
    std::vector<UOp> src{cast(v[0], in)};
    std::ranges::copy_if(at->second, std::back_inserter(src), [](UOp l) { return l.op() == Op::kRange; });
    // Without a loop the identity still takes part: 0 + -0.0 is +0.0, as in a loop of one turn.
    const UOp sum = src.size() == 1 ? binary(op, identity, src[0]) : g_.make(Op::kAccumulate, src, {.op = op});
    return cast(sum, r.node.dtype());
  }

  UOp gathered(const Request& r, std::vector<Request>& needs) {
    check(r.node.op() == Op::kGather, "SCATTER is a kernel of its own");
    const UOp x = r.node.src(0);
    const auto axis = static_cast<std::size_t>(r.node.arg().value);
    if (x.numel() == 0) return zero(x.dtype());
    const std::vector<UOp> loaded = gather_values({{r.node.src(1), r.index, r.gate}}, needs);
    if (loaded.empty()) return UOp();
    Index index = r.index;
    index[axis] = index_value(loaded[0]);
    const UOp in_range = inside(index[axis], x.shape()[axis]);
    const UOp gate = build_.both(r.gate, in_range);
    const std::vector<UOp> v = gather_values({{x, index, gate}}, needs);
    if (v.empty()) return UOp();
    return zero_outside(in_range, v[0], gate);
  }

  Graph& g_;
  IndexBuilder build_;
  std::int64_t next_range_ = 0;
  std::map<std::vector<std::uint32_t>, std::uint32_t> tuples_;
  std::unordered_map<Key, UOp, KeyHash> answers_;
  std::unordered_map<Key, Index, KeyHash> loops_;
};

}  // namespace

UOp lower(UOp body, std::int64_t output_slot) {
  return Lowering(body.graph()).run(body, output_slot);
}

}  // namespace uop
