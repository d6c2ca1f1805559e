// A tensor of the reference: elements in row-major order, and the walk over indices that every op is written with.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/ir/uop.h"
#include "tests/reference/element.h"

namespace uop::reference {

struct Tensor {
  DType dtype = DType::kNone;
  Shape shape;
  std::vector<Element> elements;
};

using Bytes = std::vector<std::byte>;

/// What a graph is run on, by slot.
struct Inputs {
  std::map<std::int64_t, Bytes> buffers;
  std::map<std::int64_t, std::int64_t> variables;
};

/// The number of elements of a shape.
std::int64_t count(const Shape& shape);

/// The index of the flat position, and back.
Shape index_at(const Shape& shape, std::int64_t position);
std::int64_t position_of(const Shape& shape, const Shape& index);

/// Memory of `bytes.size() / byte_size(dtype)` elements as a tensor of one axis, and back.
Tensor tensor_of(DType dtype, const Bytes& bytes);
Bytes bytes_of(const Tensor& t);

}  // namespace uop::reference
