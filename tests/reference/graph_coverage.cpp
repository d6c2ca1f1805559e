#include "tests/reference/graph_coverage.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ir/traverse.h"

namespace uop::reference {
namespace {

bool is_of_a_graph(const OpRow& r) {
  return r.number != 0 && r.op != Op::kGradient;
}

/// Whether an input holds an element that `is`.
bool holds(const RandomCase& c, std::span<const UOp> nodes, const std::function<bool(DType, Bits)>& is) {
  return std::any_of(nodes.begin(), nodes.end(), [&](UOp u) {
    if (u.op() != Op::kBuffer) return false;
    const Bytes& bytes = c.inputs.buffers.at(u.arg().value);
    for (std::int64_t i = 0; i < u.numel(); i++)
      if (is(u.dtype(), load(u.dtype(), bytes.data() + i * byte_size(u.dtype())))) return true;
    return false;
  });
}

bool is_denormal(DType dtype, Bits bits) {
  const Bits least_normal = dtype == DType::kF64   ? Bits{1} << 52
                            : dtype == DType::kF32 ? Bits{1} << 23
                            : dtype == DType::kF16 ? Bits{1} << 10
                                                   : Bits{1} << 7;
  const Bits sign = Bits{1} << (8 * byte_size(dtype) - 1);
  return is_float(dtype) && (bits & ~sign) != 0 && (bits & ~sign) < least_normal;
}

bool is_extreme(DType dtype, Bits bits) {
  return !is_float(dtype) && dtype != DType::kBool &&
         (integer(dtype, bits) == highest(dtype) || (is_signed(dtype) && integer(dtype, bits) == lowest(dtype)));
}

}  // namespace

GraphCoverage::GraphCoverage() {
  for (const OpRow& r : op_rows())
    if (is_of_a_graph(r)) counts_[std::string(r.name)] = 0;
  for (const DTypeRow& r : dtype_rows()) counts_[std::string(r.name)] = 0;
}

void GraphCoverage::add(const RandomCase& c, std::span<const Variant> variants) {
  graphs_++;
  const std::vector<UOp> nodes = toposort(c.graph.roots);
  const std::vector<UOp>& roots = c.graph.roots;
  std::set<std::string> names;
  std::map<std::uint32_t, int> readers;
  std::set<std::int64_t> slots;
  for (const UOp u : nodes) {
    names.insert(std::string(name(u.op())));
    names.insert(std::string(name(u.dtype())));
    for (const UOp s : u.src()) readers[s.id()]++;
    if (u.op() == Op::kBuffer) slots.insert(u.arg().value);
  }
  for (const std::string& n : names) counts_[n]++;

  const auto any_node = [&](auto has) { return std::any_of(nodes.begin(), nodes.end(), has); };
  const auto any_axis = [&](std::int64_t size) {
    return any_node([size](UOp u) { return std::find(u.shape().begin(), u.shape().end(), size) != u.shape().end(); });
  };
  const auto any_variant = [&](auto has) { return std::any_of(variants.begin(), variants.end(), has); };
  count("a 0-d value", any_node([](UOp u) { return u.shape().empty(); }));
  count("an axis of 0", any_axis(0));
  count("an axis of 1", any_axis(1));
  count("a value read more than once", any_node([&](UOp u) { return readers[u.id()] > 1; }));
  count("three roots or more", roots.size() >= 3);
  count("a root twice", std::set<const Node*>([&] {
                          std::set<const Node*> distinct;
                          for (const UOp r : roots) distinct.insert(r.node());
                          return distinct;
                        }())
                                .size() < roots.size());
  count("an input as a root", std::any_of(roots.begin(), roots.end(), [](UOp u) { return u.op() == Op::kBuffer; }));
  count("one buffer bound twice", std::any_of(c.same_buffer.begin(), c.same_buffer.end(), [&](const auto& pair) {
          return slots.contains(pair.first) && slots.contains(pair.second);
        }));
  count("no input", slots.empty());
  count("a NaN in an input",
        holds(c, nodes, [](DType t, Bits bits) { return is_float(t) && std::isnan(real(t, bits)); }));
  count("an infinity in an input",
        holds(c, nodes, [](DType t, Bits bits) { return is_float(t) && std::isinf(real(t, bits)); }));
  count("a -0.0 in an input", holds(c, nodes, [](DType t, Bits bits) {
          return is_float(t) && real(t, bits) == 0 && std::signbit(real(t, bits));
        }));
  count("a denormal in an input", holds(c, nodes, is_denormal));
  count("an extreme integer in an input", holds(c, nodes, is_extreme));
  count("opt=0", any_variant([](const Variant& v) { return v.options.opt == 0; }));
  count("opt=1", any_variant([](const Variant& v) { return v.options.opt == 1; }));
  count("numerics=default", any_variant([](const Variant& v) { return v.options.numerics == "default"; }));
  count("numerics=strict", any_variant([](const Variant& v) { return v.options.numerics == "strict"; }));
  count("fuse_reduce", any_variant([](const Variant& v) { return v.options.fuse_reduce; }));
  count("no stages of its own", any_variant([](const Variant& v) { return !v.options.stage; }));
  count("two threads", any_variant([](const Variant& v) { return v.split; }));
  count("other STAGE nodes", any_variant([](const Variant& v) { return v.restage != 0; }));
}

}  // namespace uop::reference
