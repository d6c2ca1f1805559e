#include "core/schedule/reading.h"

#include <boost/container_hash/hash.hpp>

#include "core/ir/reshape_groups.h"
#include "core/ir/shape_rules.h"
#include "core/support/status.h"

namespace uop {
namespace {

void add_to(std::size_t& seed, const AxisIndex& axis) {
  boost::hash_combine(seed, axis.symbol);
  boost::hash_combine(seed, axis.offset);
  boost::hash_combine(seed, axis.flipped);
}

/// A symbol for an index of which no more is known than what it was made of.
AxisIndex opaque(std::size_t seed, std::size_t position) {
  boost::hash_combine(seed, position);
  return {.symbol = seed | std::uint64_t{1} << 63};
}

Reading through_reduce(UOp u, const Reading& r) {
  Reading inner = r;
  std::size_t seed = fingerprint(r);
  boost::hash_combine(seed, u.id());
  for (std::size_t i = r.axes.size(); i < u.src(0).shape().size(); i++)
    inner.axes.push_back(u.src(0).shape()[i] == 1 ? AxisIndex{} : opaque(seed, i));
  return inner;
}

/// What GATHER reads at loaded indices, and all that SCATTER reads: each at an index of its own.
Reading through_indexed(UOp u, std::size_t i, const Reading& r) {
  if (u.op() == Op::kGather && i == 1) return r;
  Reading inner = r;
  std::size_t seed = fingerprint(r);
  boost::hash_combine(seed, u.id());
  if (u.op() == Op::kGather) {
    inner.axes[static_cast<std::size_t>(u.arg().value)] = opaque(seed, 0);
    inner.gate = seed;
  } else {
    boost::hash_combine(seed, i);
    for (std::size_t axis = 0; axis < inner.axes.size(); axis++) inner.axes[axis] = opaque(seed, axis);
  }
  return inner;
}

std::vector<AxisIndex> reshaped(const Shape& from, const Shape& to, const std::vector<AxisIndex>& axes) {
  std::vector<AxisIndex> source(from.size());
  for (const ReshapeGroup& g : reshape_groups(from, to)) {
    // Axes of size 1 have the index 0 and change nothing.
    std::size_t seed = 0;
    std::size_t kept = 0;
    std::size_t last = 0;
    for (std::size_t i = g.to_begin; i < g.to_end; i++) {
      if (to[i] == 1) continue;
      add_to(seed, axes[i]);
      boost::hash_combine(seed, to[i]);
      kept++;
      last = i;
    }
    for (std::size_t i = g.from_begin; i < g.from_end; i++) {
      if (from[i] == 1) continue;
      source[i] = kept == 1 && from[i] == to[last] ? axes[last] : opaque(seed, i - g.from_begin);
    }
  }
  return source;
}

Reading through_movement(UOp u, const Reading& r) {
  const Shape& from = u.src(0).shape();
  const std::vector<std::int64_t>& ints = u.arg().ints;
  Reading moved = r;
  switch (u.op()) {
    case Op::kReshape: moved.axes = reshaped(from, u.shape(), r.axes); break;
    case Op::kPermute:
      for (std::size_t i = 0; i < r.axes.size(); i++) moved.axes[static_cast<std::size_t>(ints[i])] = r.axes[i];
      break;
    case Op::kExpand: break;
    case Op::kShrink:
      for (std::size_t i = 0; i < from.size(); i++) moved.axes[i].offset += static_cast<std::uint64_t>(ints[2 * i]);
      break;
    case Op::kFlip:
      for (std::size_t i = 0; i < from.size(); i++) {
        if (ints[i] == 0) continue;
        moved.axes[i].flipped = !r.axes[i].flipped;
        moved.axes[i].offset = static_cast<std::uint64_t>(from[i] - 1) - r.axes[i].offset;
      }
      break;
    case Op::kPad: {
      std::size_t gate = r.gate;
      for (std::size_t i = 0; i < from.size(); i++) {
        if (from[i] == u.shape()[i]) continue;
        add_to(gate, r.axes[i]);
        boost::hash_combine(gate, ints[2 * i]);
        boost::hash_combine(gate, from[i]);
        moved.axes[i].offset -= static_cast<std::uint64_t>(ints[2 * i]);
      }
      moved.gate = gate;
      break;
    }
    default: check(false, "not a movement op");
  }
  for (std::size_t i = 0; i < from.size(); i++)
    if (from[i] == 1) moved.axes[i] = {};
  return moved;
}

}  // namespace

std::uint64_t fingerprint(const Reading& r) {
  std::size_t seed = r.kernel;
  boost::hash_combine(seed, r.gate);
  for (const AxisIndex& axis : r.axes) add_to(seed, axis);
  return seed;
}

Reading own_reading(UOp point, std::uint32_t kernel) {
  static_assert(kMaxRank <= kLastLoopSymbol);
  Reading own{.kernel = kernel, .axes = std::vector<AxisIndex>(point.shape().size())};
  for (std::size_t i = 0; i < own.axes.size(); i++)
    if (point.shape()[i] != 1) own.axes[i].symbol = i + 1;
  return own;
}

Reading read_through(UOp u, std::size_t i, const Reading& r) {
  switch (op_class(u.op())) {
    case OpClass::kMovement: return through_movement(u, r);
    case OpClass::kReduce: return through_reduce(u, r);
    case OpClass::kIndexed: return through_indexed(u, i, r);
    default: return r;
  }
}

}  // namespace uop
