// The movement methods of Tensor.
#include <algorithm>
#include <numeric>

#include "client/cpp/axes.h"
#include "client/cpp/tensor.h"
#include "core/ir/build.h"
#include "core/ir/shape_rules.h"

namespace uop {

Tensor Tensor::reshape(Shape to) const {
  const auto open = std::find(to.begin(), to.end(), -1);
  if (open != to.end()) {
    std::int64_t rest = 1;
    for (const std::int64_t size : to)
      if (size != -1) rest *= size;
    if (std::count(to.begin(), to.end(), -1) > 1 || rest <= 0 || numel() % rest != 0)
      throw_invalid("{} does not become {}: one dimension may be -1, and the others must divide its {} elements",
                    shape_text(shape()), shape_text(to), numel());
    *open = numel() / rest;
  }
  return to == shape() ? *this : derived(checked_node(Op::kReshape, {node()}, {.ints = std::move(to)}));
}

Tensor Tensor::permute(const Axes& order) const {
  Axes normal(order.size());
  std::transform(order.begin(), order.end(), normal.begin(), [&](std::int64_t a) { return normal_axis(a, rank()); });
  if (order.size() == shape().size() && std::is_sorted(normal.begin(), normal.end()) &&
      std::adjacent_find(normal.begin(), normal.end()) == normal.end())
    return *this;
  return derived(checked_node(Op::kPermute, {node()}, {.ints = std::move(normal)}));
}

Tensor Tensor::transpose(std::int64_t axis_a, std::int64_t axis_b) const {
  Axes order(shape().size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(normal_axis(axis_a, rank()))],
            order[static_cast<std::size_t>(normal_axis(axis_b, rank()))]);
  return permute(order);
}

Tensor Tensor::expand(const Shape& to) const {
  // Aligned at the last axis, as broadcasting does, but here only this tensor may give way.
  bool fits = to.size() >= shape().size();
  for (std::size_t i = 0; fits && i < shape().size(); ++i) {
    const std::int64_t from = shape()[i];
    const std::int64_t size = to[to.size() - shape().size() + i];
    fits = from == size || (from == 1 && size >= 0);
  }
  if (!fits)
    throw_invalid("{} does not expand to {}: an axis of size 1 may be repeated and axes may be added in front",
                  shape_text(shape()), shape_text(to));
  return derived(broadcast_to(node(), to));
}

Tensor Tensor::pad(const std::vector<std::int64_t>& before_after) const {
  return derived(checked_node(Op::kPad, {node()}, {.ints = before_after}));
}

Tensor Tensor::shrink(const std::vector<std::int64_t>& begin_end) const {
  return derived(checked_node(Op::kShrink, {node()}, {.ints = begin_end}));
}

Tensor Tensor::flip(const Axes& axes) const {
  std::vector<std::int64_t> flags(shape().size(), 0);
  if (!axes.empty())
    for (const std::int64_t axis : normal_axes(axes, rank())) flags[static_cast<std::size_t>(axis)] = 1;
  return derived(uop::flip(node(), flags));
}

}  // namespace uop
