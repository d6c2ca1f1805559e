// What a well-formed node is: arity, dtypes, argument and shapes of every op, and the dtype and shape of its result.
//
// `infer` is the only judge; Graph::try_make asks it for every node, so nothing downstream checks again.
#pragma once

#include <span>

#include "core/ir/uop.h"

namespace uop {

struct Inferred {
  DType dtype;
  Shape shape;
  std::int64_t numel;
};

/// Most axes of a tensor. More than any framework uses; keeps a node small.
inline constexpr std::size_t kMaxRank = 32;
/// Most elements of a tensor, so that its size in bytes and every index into it fit into an int64.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

/// The dtype and shape of (op, src, arg). Elementwise ops take operands of one shape: broadcasting is written out with
/// RESHAPE and EXPAND. Errors: INVALID_ARGUMENT that says what does not fit and what to do.
StatusOr<Inferred> infer(Op op, std::span<const UOp> src, const Arg& arg);

/// "f32[4,8]"
std::string type_text(DType dtype, const Shape& shape);
/// "[4,8]"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace uop
