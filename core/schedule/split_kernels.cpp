#include "core/schedule/split_kernels.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/build.h"
#include "core/ir/traverse.h"

namespace uop {
namespace {

/// By node: the BUFFER below RESHAPEs, where that is all there is; else no node.
std::vector<UOp> contiguous_buffers(std::span<const UOp> order) {
  std::vector<UOp> below(order.empty() ? 0 : order.back().graph().size());
  for (const UOp u : order) {
    if (u.op() == Op::kBuffer) below[u.id()] = u;
    if (u.op() == Op::kReshape) below[u.id()] = below[u.src(0).id()];
  }
  return below;
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

/// What stands for `u` in the body of another kernel, if it is read from memory there; else no node.
UOp leaf(const Schedule& schedule, UOp u, UOp point, KernelBody& kernel) {
  Graph& g = *kernel.body.graph;
  if (u.op() == Op::kVariable) {
    kernel.variables.push_back(schedule.variable_index.at(u));
    Arg arg = u.arg();
    arg.value = static_cast<std::int64_t>(kernel.variables.size()) - 1;
    return g.make(Op::kVariable, {}, arg);
  }
  std::optional<BufferRef> ref;
  if (u.op() == Op::kBuffer) ref = BufferRef{BufferRef::Kind::kIn, schedule.input_index.at(u)};
  if (const auto found = schedule.stored.find(u); found != schedule.stored.end() && u != point) ref = found->second;
  if (!ref) return UOp();
  // Nothing ever reads an element of a value that has none, so there is no buffer behind it.
  if (u.numel() == 0) return broadcast_scalar(constant(g, Scalar{u.dtype(), 0}), u.shape());
  kernel.refs.push_back(*ref);
  return reshape(buffer(g, static_cast<std::int64_t>(kernel.refs.size()) - 1, u.dtype(), u.numel()), u.shape());
}

/// Roots that became equal (say, a value and its DETACH) are made different again: one of them is a copy of the other.
std::vector<UOp> distinct_roots(std::span<const UOp> roots, std::span<const UOp> contiguous) {
  std::vector<UOp> distinct;
  std::unordered_set<UOp, UOpHash> seen;
  std::unordered_map<UOp, UOp, UOpHash> latest_copy;
  for (const UOp root : roots) {
    UOp u = root;
    if (!contiguous[u.id()] && !seen.insert(u).second) {
      UOp& copy = latest_copy.try_emplace(root, root).first->second;
      do copy = root.graph().make(Op::kStage, {copy});
      while (!seen.insert(copy).second);
      u = copy;
    }
    distinct.push_back(u);
  }
  return distinct;
}

}  // namespace

Schedule split_kernels(std::span<const UOp> inputs, std::span<const UOp> variables, std::span<const UOp> given_roots,
                       const std::unordered_set<UOp, UOpHash>& points) {
  const std::vector<UOp> contiguous = contiguous_buffers(toposort(given_roots));
  const auto alias_of = [&](UOp u) { return u.id() < contiguous.size() ? contiguous[u.id()] : UOp(); };
  const std::vector<UOp> roots = distinct_roots(given_roots, contiguous);
  Schedule schedule;
  schedule.input_index = positions(inputs);
  schedule.variable_index = positions(variables);
  for (const UOp u : inputs) schedule.inputs.push_back({u.dtype(), u.numel()});
  for (const UOp u : variables) schedule.variables.push_back({u.arg().ints[0], u.arg().ints[1]});

  for (std::uint32_t r = 0; r < roots.size(); r++) {
    const UOp u = roots[r];
    const UOp alias = alias_of(u);
    schedule.outputs.push_back({{u.dtype(), u.numel()}, alias ? std::int64_t{schedule.input_index.at(alias)} : -1});
    if (!alias) schedule.stored.emplace(u, BufferRef{BufferRef::Kind::kOut, r});
  }
  for (const UOp u : toposort(roots)) {
    const bool is_point = points.contains(u) || u.op() == Op::kStage;  // also the STAGEs of distinct_roots
    if ((!is_point || alias_of(u)) && !schedule.stored.contains(u)) continue;
    if (u.numel() > 0) schedule.points.push_back(u);
    if (schedule.stored.contains(u)) continue;
    schedule.stored.emplace(u, BufferRef{BufferRef::Kind::kTmp, static_cast<std::uint32_t>(schedule.temps.size())});
    schedule.temps.push_back({u.dtype(), u.numel()});
  }
  return schedule;
}

KernelBody kernel_body(const Schedule& schedule, UOp point) {
  KernelBody kernel;
  kernel.body.graph = std::make_unique<Graph>();
  const UOp expression = point.op() == Op::kStage ? point.src(0) : point;
  const UOp root = copy_until(expression, *kernel.body.graph, [&](UOp u) { return leaf(schedule, u, point, kernel); });
  const std::vector<UOp> nodes = toposort({&root, 1});
  kernel.refs.push_back(schedule.stored.at(point));
  kernel.name = kernel_name(nodes, point.shape());
  kernel.flops = count_flops(nodes);
  kernel.body.roots = {root};
  return kernel;
}

}  // namespace uop
