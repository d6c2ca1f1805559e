#include "client/cpp/axes.h"

#include <algorithm>
#include <numeric>

#include "client/cpp/client_error.h"
#include "core/ir/shape_rules.h"

namespace uop {

std::int64_t normal_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw_invalid("axis {} of a tensor of {} axes; use {}..{}", axis, rank, -rank, rank - 1);
  return axis < 0 ? axis + rank : axis;
}

Axes normal_axes(const Axes& axes, std::int64_t rank) {
  Axes normal(axes.empty() ? static_cast<std::size_t>(rank) : axes.size());
  if (axes.empty())
    std::iota(normal.begin(), normal.end(), 0);
  else
    std::transform(axes.begin(), axes.end(), normal.begin(), [&](std::int64_t a) { return normal_axis(a, rank); });
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end())
    throw_invalid("axes {} name one axis twice; name each once", shape_text(axes));
  return normal;
}

UOp checked_node(Op op, std::vector<UOp> src, Arg arg) {
  Graph& graph = src.front().graph();
  return value_or_throw(graph.try_make(op, std::move(src), std::move(arg)));
}

UOp broadcast_to(UOp u, const Shape& shape) {
  Shape padded(shape.size() - u.shape().size(), 1);
  padded.insert(padded.end(), u.shape().begin(), u.shape().end());
  const UOp ranked = padded == u.shape() ? u : checked_node(Op::kReshape, {u}, {.ints = padded});
  return ranked.shape() == shape ? ranked : checked_node(Op::kExpand, {ranked}, {.ints = shape});
}

}  // namespace uop
