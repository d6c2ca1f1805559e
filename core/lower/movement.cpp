#include "core/lower/movement.h"

#include "core/ir/reshape_groups.h"
#include "core/support/status.h"

namespace uop {
namespace {

std::vector<UOp> reshape_index(IndexBuilder& build, const Shape& from, const Shape& to, std::span<const UOp> index) {
  std::vector<UOp> result(from.size());
  for (const ReshapeGroup& g : reshape_groups(from, to)) {
    const std::size_t count = g.to_end - g.to_begin;
    const UOp flat = build.flatten(index.subspan(g.to_begin, count), std::span(to).subspan(g.to_begin, count));
    std::int64_t stride = 1;
    for (std::size_t i = g.from_end; i-- > g.from_begin;) {
      const UOp quotient = build.div(flat, stride);
      result[i] = i == g.from_begin ? quotient : build.mod(quotient, from[i]);
      if (from[i] == 1) result[i] = build.number(0);
      stride *= from[i];
    }
  }
  return result;
}

}  // namespace

Moved move_index(IndexBuilder& build, UOp movement, std::span<const UOp> index) {
  const Shape& from = movement.src(0).shape();
  const std::vector<std::int64_t>& ints = movement.arg().ints;
  Moved moved{{index.begin(), index.end()}, build.always()};
  switch (movement.op()) {
    case Op::kReshape: moved.index = reshape_index(build, from, movement.shape(), index); break;
    case Op::kPermute:
      for (std::size_t i = 0; i < index.size(); i++) moved.index[static_cast<std::size_t>(ints[i])] = index[i];
      break;
    case Op::kExpand:
      for (std::size_t i = 0; i < index.size(); i++)
        if (from[i] == 1) moved.index[i] = build.number(0);
      break;
    case Op::kShrink:
      for (std::size_t i = 0; i < index.size(); i++) moved.index[i] = build.add(index[i], build.number(ints[2 * i]));
      break;
    case Op::kFlip:
      for (std::size_t i = 0; i < index.size(); i++)
        if (ints[i] != 0) moved.index[i] = build.add(build.number(from[i] - 1), build.mul(index[i], -1));
      break;
    case Op::kPad:
      for (std::size_t i = 0; i < index.size(); i++) {
        const std::int64_t before = ints[2 * i];
        const UOp inside = build.both(build.at_least(index[i], before), build.below(index[i], before + from[i]));
        moved.inside = build.both(moved.inside, inside);
        moved.index[i] = from[i] == 1 ? build.number(0) : build.add(index[i], build.number(-before));
      }
      break;
    default: check(false, "not a movement op");
  }
  return moved;
}

}  // namespace uop
