// Families of graphs that grow: what planning must take linear time for. Each is called with about how many nodes it is
// to have.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/engine/chapter_graphs.h"

namespace uop::scale {

using Roots = std::vector<UOp>;

/// One elementwise op after another: the same eight in turn, each on the last value and an input.
inline Roots long_chain(Graph& g, int nodes) {
  const UOp a = buffer(g, 0, DType::kF32, 64);
  UOp x = buffer(g, 1, DType::kF32, 64);
  constexpr Op kOps[] = {Op::kAdd, Op::kMin, Op::kMax, Op::kSub, Op::kMin, Op::kAdd, Op::kSub, Op::kMax};
  for (int i = 0; i + 2 < nodes; i++) x = binary(kOps[i % 8], x, a);
  return {x};
}

/// Each value reads the last one and another a few steps back.
inline Roots braid(Graph& g, int nodes) {
  std::vector<UOp> x{buffer(g, 0, DType::kF32, 64), buffer(g, 1, DType::kF32, 64)};
  constexpr std::size_t kBack[] = {2, 5, 3, 6, 4};
  constexpr Op kOps[] = {Op::kAdd, Op::kMax, Op::kSub};
  while (static_cast<int>(x.size()) < nodes) {
    const std::size_t i = x.size();
    x.push_back(binary(kOps[i % 3], x[i - 1], x[i - std::min(i, kBack[i % 5])]));
  }
  return {x.back()};
}

/// Many inputs, summed pair by pair.
inline Roots wide_fan(Graph& g, int nodes) {
  std::vector<UOp> level;
  for (int i = 0; i < (nodes + 1) / 2; i++) level.push_back(buffer(g, i, DType::kF32, 4));
  while (level.size() > 1) {
    std::vector<UOp> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(binary(Op::kAdd, level[i], level[i + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  return {level[0]};
}

/// One value that takes some work, and many results made of it.
inline Roots many_roots(Graph& g, int nodes) {
  const UOp a = buffer(g, 0, DType::kF32, 16);
  UOp shared = buffer(g, 1, DType::kF32, 16);
  for (int i = 0; i < nodes / 4; i++) shared = binary(i % 2 == 0 ? Op::kAdd : Op::kMax, shared, a);
  Roots roots;
  for (int i = 0; i < nodes / 4; i++) roots.push_back(binary(Op::kMul, shared, buffer(g, 2 + i, DType::kF32, 16)));
  return roots;
}

/// One reduction after another: a kernel for every third node.
inline Roots many_kernels(Graph& g, int nodes) {
  UOp x = chapter::input(g, 0, {4, 4});
  for (int i = 0; i < nodes / 3; i++) x = chapter::over_rows(chapter::reduce_rows(Op::kMax, x), x);
  return {x};
}

/// Pieces of three elements, one after another.
inline Roots concatenation(Graph& g, int nodes) {
  const int pieces = (nodes + 1) / 3;
  UOp all;
  for (int i = 0; i < pieces; i++) {
    const UOp piece = pad(buffer(g, i, DType::kI32, 3), {3 * i, 3 * (pieces - 1 - i)});
    all = all ? binary(Op::kAdd, all, piece) : piece;
  }
  return {all};
}

/// Only movement.
inline Roots movements(Graph& g, int nodes) {
  UOp x = chapter::input(g, 0, {4, 6});
  for (int i = 0; i < nodes / 4; i++) {
    x = permute(x, {1, 0});
    x = flip(x, {0, 1});
    x = reshape(x, {8, 3});
    x = reshape(x, {4, 6});
  }
  return {x};
}

/// x + flip(x), again and again: two indices, whatever the depth.
inline Roots mirrored(Graph& g, int nodes) {
  UOp x = buffer(g, 0, DType::kF32, 64);
  for (int i = 0; i < nodes / 2; i++) x = binary(i % 3 == 0 ? Op::kSub : Op::kMax, x, flip(x, {1}));
  return {x};
}

/// x + x moved by one, again and again: every level doubles the indices at which the input would be read.
inline Roots shifted(Graph& g, int nodes) {
  UOp x = buffer(g, 0, DType::kI32, 64);
  for (int i = 0; i < nodes / 3; i++) x = binary(Op::kAdd, x, pad(shrink(x, {0, 63}), {1, 0}));
  return {x};
}

/// Values that are broadcast at every level.
inline Roots broadcasts(Graph& g, int nodes) {
  UOp x = chapter::input(g, 0, {1, 2});
  for (int i = 0; i < nodes / 4; i++) {
    const UOp wide = expand(unary(Op::kAbs, x), {8, 2});
    x = shrink(binary(Op::kSub, wide, expand(x, {8, 2})), {3, 4, 0, 2});
  }
  return {x};
}

/// Layers of a network: matrix product, ReLU, rows moved so that the greatest is 0.
inline Roots layers(Graph& g, int nodes) {
  UOp x = chapter::input(g, 0, {2, 8}, DType::kI32);
  for (int i = 0; i < std::max(1, nodes / 25); i++) {
    const UOp w = chapter::input(g, 1 + i, {8, 8}, DType::kI32);
    const UOp y = chapter::relu(chapter::matmul(x, w));
    x = chapter::sub_rows(y, chapter::reduce_rows(Op::kMax, y));
  }
  return {x};
}

/// Many roots over one long chain of movement ops.
inline Roots shared_movement(Graph& g, int nodes) {
  UOp x = chapter::input(g, 0, {4, 6});
  for (int i = 0; i < 60; i++) x = flip(permute(flip(permute(x, {1, 0}), {0, 1}), {1, 0}), {0, 1});
  Roots roots;
  for (int i = 0; i < std::max(1, nodes - 240); i++)
    roots.push_back(binary(Op::kAdd, x, chapter::input(g, 1 + i, {4, 6})));
  return roots;
}

/// Values that are moved, and broadcast from ever further above.
inline Roots moved_broadcasts(Graph& g, int nodes) {
  UOp x = reshape(unary(Op::kAbs, buffer(g, 0, DType::kF32, 2)), {1, 2});
  for (int i = 0; i < nodes / 2; i++) x = shrink(expand(x, {4, 2}), {1, 2, 0, 2});
  return {x};
}

/// One buffer in many shapes, each of them wanted; and one value wanted many times over.
inline Roots aliases(Graph& g, int nodes) {
  UOp shaped = buffer(g, 0, DType::kF32, 6);
  UOp copied = unary(Op::kNeg, shaped);
  Roots roots{copied};
  constexpr std::int64_t kRows[] = {1, 2, 3, 6};
  for (int i = 0; i < nodes / 2; i++) {
    shaped = reshape(shaped, {kRows[i % 4], 6 / kRows[i % 4]});
    copied = g.make(Op::kDetach, {copied});
    roots.push_back(i % 2 == 0 ? shaped : copied);
  }
  return roots;
}

/// Many losses, each of a few nodes, and one whose gradient is asked for by much.
inline Roots gradients(Graph& g, int nodes) {
  const UOp w = buffer(g, 0, DType::kF32, 4);
  Roots roots;
  for (int i = 0; i < std::max(1, nodes / 4); i++) {
    const UOp loss = reduce(Op::kAdd, binary(Op::kMax, w, buffer(g, 1 + i, DType::kF32, 4)), 1);
    roots.push_back(g.make(Op::kGradient, {loss, w}));
  }
  return roots;
}

struct Family {
  std::string_view name;
  Roots (*make)(Graph&, int nodes);
};

inline constexpr Family kFamilies[] = {
    {"long_chain", long_chain},
    {"braid", braid},
    {"wide_fan", wide_fan},
    {"many_roots", many_roots},
    {"many_kernels", many_kernels},
    {"concatenation", concatenation},
    {"movements", movements},
    {"mirrored", mirrored},
    {"shifted", shifted},
    {"broadcasts", broadcasts},
    {"layers", layers},
    {"shared_movement", shared_movement},
    {"moved_broadcasts", moved_broadcasts},
    {"aliases", aliases},
    {"gradients", gradients},
};

}  // namespace uop::scale
