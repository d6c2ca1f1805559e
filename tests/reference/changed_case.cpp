#include "tests/reference/changed_case.h"

#include <bit>

#include "core/ir/traverse.h"
#include "tests/reference/random.h"

namespace uop::reference {
namespace {

constexpr std::int64_t kMostItems = 6;  // of a vector that is spelled element by element

UOp repeated(Graph& g, UOp scalar, std::int64_t n) {
  return g.make(Op::kExpand, {g.make(Op::kReshape, {scalar}, {.ints = {1}})}, {.ints = {n}});
}

RandomCase changed(const RandomCase& c, const std::function<UOp(Graph&, UOp original, UOp made)>& replace) {
  RandomCase result{c.seed, {std::make_unique<Graph>(), {}}, c.inputs, c.same_buffer};
  Graph& g = *result.graph.graph;
  result.graph.roots = rebuild(c.graph.roots, g, [&](UOp u, UOp made) { return replace(g, u, made); });
  return result;
}

}  // namespace

UOp vector_of(Graph& g, std::int64_t n, const std::function<UOp(std::int64_t)>& item) {
  const UOp position = g.make(Op::kIota, {}, {.dtype = DType::kI32, .ints = {n}});
  UOp result = repeated(g, item(0), n);
  for (std::int64_t i = 1; i < n; i++) {
    const UOp here = repeated(g, g.make(Op::kConst, {}, {.dtype = DType::kI32, .value = i}), n);
    result = g.make(Op::kWhere, {g.make(Op::kCmpEq, {position, here}), repeated(g, item(i), n), result});
  }
  return result;
}

UOp constant_at(Graph& g, DType dtype, const Bytes& bytes, std::int64_t i) {
  const Bits bits = load(dtype, bytes.data() + i * byte_size(dtype));
  return g.make(Op::kConst, {}, {.dtype = dtype, .value = std::bit_cast<std::int64_t>(bits)});
}

RandomCase with_constant_operands(const RandomCase& c) {
  Random random(c.seed ^ 0xc0157a27);
  return changed(c, [&](Graph& g, UOp u, UOp made) {
    if (u.op() != Op::kBuffer || u.numel() == 0 || random.chance(20)) return made;
    const Bytes& bytes = c.inputs.buffers.at(u.arg().value);
    const auto item = [&](std::int64_t i) { return constant_at(g, u.dtype(), bytes, i); };
    return u.numel() <= kMostItems ? vector_of(g, u.numel(), item) : repeated(g, item(0), u.numel());
  });
}

RandomCase restaged(const RandomCase& c, std::uint64_t seed) {
  Random random(seed);
  return changed(c, [&](Graph& g, UOp u, UOp made) {
    if (u.op() == Op::kStage) return random.chance(50) ? made.src(0) : made;
    return random.chance(20) ? g.make(Op::kStage, {made}) : made;
  });
}

}  // namespace uop::reference
