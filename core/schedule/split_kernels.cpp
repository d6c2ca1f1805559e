#include "core/schedule/split_kernels.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/build.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

using NodeIndex = std::unordered_map<UOp, std::uint32_t, UOpHash>;

/// The BUFFER below RESHAPEs, where that is all there is; else no node.
UOp contiguous_buffer(UOp u) {
  while (u.op() == Op::kReshape) u = u.src(0);
  return u.op() == Op::kBuffer ? u : UOp();
}

NodeIndex positions(std::span<const UOp> nodes) {
  NodeIndex index;
  for (const UOp u : nodes) index.emplace(u, static_cast<std::uint32_t>(index.size()));
  return index;
}

std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

/// One per element of every ALU op, one per element that a REDUCE or a SCATTER reads.
std::uint64_t count_flops(std::span<const UOp> body) {
  std::uint64_t flops = 0;
  for (const UOp u : body) {
    std::int64_t n = 0;
    if (is_alu(u.op())) n = u.numel();
    if (u.op() == Op::kReduce) n = u.src(0).numel();
    if (u.op() == Op::kScatter) n = u.src(2).numel();
    flops = add_saturating(flops, static_cast<std::uint64_t>(n));
  }
  return flops;
}

/// "r_4_8": r for a reduction, e for elementwise, then the shape.
std::string kernel_name(std::span<const UOp> body, const Shape& shape) {
  bool reduces = false;
  for (const UOp u : body) reduces |= u.op() == Op::kReduce;
  std::string text = reduces ? "r" : "e";
  if (shape.empty()) return text + "_1";
  for (const std::int64_t d : shape) text += fmt::format("_{}", d);
  return text;
}

/// Makes the body of the kernel that computes `point`, given what every other point and input is.
class BodyBuilder {
 public:
  BodyBuilder(const NodeIndex& inputs, const NodeIndex& variables,
              const std::unordered_map<UOp, BufferRef, UOpHash>& stored)
      : inputs_(inputs), variables_(variables), stored_(stored) {}

  KernelBody build(UOp point) const {
    KernelBody kernel;
    kernel.body.graph = std::make_unique<Graph>();
    Graph& g = *kernel.body.graph;
    const UOp expression = point.op() == Op::kStage ? point.src(0) : point;
    const UOp root = copy_until(expression, g, [&](UOp u) { return leaf(u, point, kernel); });
    const std::vector<UOp> nodes = toposort({&root, 1});
    kernel.refs.push_back(stored_.at(point));
    kernel.name = kernel_name(nodes, point.shape());
    kernel.flops = count_flops(nodes);
    kernel.body.roots = {root};
    return kernel;
  }

 private:
  UOp leaf(UOp u, UOp point, KernelBody& kernel) const {
    Graph& g = *kernel.body.graph;
    if (u.op() == Op::kVariable) {
      kernel.variables.push_back(variables_.at(u));
      Arg arg = u.arg();
      arg.value = static_cast<std::int64_t>(kernel.variables.size()) - 1;
      return g.make(Op::kVariable, {}, arg);
    }
    std::optional<BufferRef> ref;
    if (u.op() == Op::kBuffer) ref = BufferRef{BufferRef::Kind::kIn, inputs_.at(u)};
    if (const auto found = stored_.find(u); found != stored_.end() && u != point) ref = found->second;
    if (!ref) return UOp();
    // Nothing ever reads an element of a value that has none, so there is no buffer behind it.
    if (u.numel() == 0) return broadcast_scalar(constant(g, Scalar{u.dtype(), 0}), u.shape());
    kernel.refs.push_back(*ref);
    return reshape(buffer(g, static_cast<std::int64_t>(kernel.refs.size()) - 1, u.dtype(), u.numel()), u.shape());
  }

  const NodeIndex& inputs_;
  const NodeIndex& variables_;
  const std::unordered_map<UOp, BufferRef, UOpHash>& stored_;
};

/// Roots that became equal (say, a value and its DETACH) are made different again: one of them is a copy of the other.
std::vector<UOp> distinct_roots(std::span<const UOp> roots) {
  std::vector<UOp> distinct;
  std::unordered_set<UOp, UOpHash> seen;
  for (UOp u : roots) {
    while (!contiguous_buffer(u) && !seen.insert(u).second) u = u.graph().make(Op::kStage, {u});
    distinct.push_back(u);
  }
  return distinct;
}

}  // namespace

Schedule split_kernels(std::span<const UOp> inputs, std::span<const UOp> variables, std::span<const UOp> given_roots,
                       const std::unordered_set<UOp, UOpHash>& points) {
  const std::vector<UOp> roots = distinct_roots(given_roots);
  Schedule schedule;
  const NodeIndex input_index = positions(inputs);
  const NodeIndex variable_index = positions(variables);
  for (const UOp u : inputs) schedule.inputs.push_back({u.dtype(), u.numel()});
  for (const UOp u : variables) schedule.variables.push_back({u.arg().ints[0], u.arg().ints[1]});

  std::unordered_map<UOp, BufferRef, UOpHash> stored;
  for (std::uint32_t r = 0; r < roots.size(); r++) {
    const UOp u = roots[r];
    const UOp alias = contiguous_buffer(u);
    schedule.outputs.push_back({{u.dtype(), u.numel()}, alias ? std::int64_t{input_index.at(alias)} : -1});
    if (!alias) stored.emplace(u, BufferRef{BufferRef::Kind::kOut, r});
  }
  std::vector<UOp> ends;  // of kernels, in order
  for (const UOp u : toposort(roots)) {
    const bool is_point = points.contains(u) || u.op() == Op::kStage;  // also the STAGEs of distinct_roots
    if ((!is_point || contiguous_buffer(u)) && !stored.contains(u)) continue;
    ends.push_back(u);
    if (stored.contains(u)) continue;
    stored.emplace(u, BufferRef{BufferRef::Kind::kTmp, static_cast<std::uint32_t>(schedule.temps.size())});
    schedule.temps.push_back({u.dtype(), u.numel()});
  }
  const BodyBuilder builder(input_index, variable_index, stored);
  for (const UOp u : ends)
    if (u.numel() > 0) schedule.kernels.push_back(builder.build(u));
  return schedule;
}

}  // namespace uop
