#include "tests/reference/tensor.h"

namespace uop::reference {

std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

Shape index_at(const Shape& shape, std::int64_t position) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

std::int64_t position_of(const Shape& shape, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); axis++) position = position * shape[axis] + index[axis];
  return position;
}

Tensor tensor_of(DType dtype, const Bytes& bytes) {
  const auto size = static_cast<std::size_t>(byte_size(dtype));
  Tensor t{dtype, {static_cast<std::int64_t>(bytes.size() / size)}, {}};
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    t.elements.push_back(exact(dtype, load(dtype, bytes.data() + at)));
  return t;
}

Bytes bytes_of(const Tensor& t) {
  const auto size = static_cast<std::size_t>(byte_size(t.dtype));
  Bytes bytes(t.elements.size() * size);
  for (std::size_t i = 0; i < t.elements.size(); i++) store(t.dtype, t.elements[i].bits, bytes.data() + i * size);
  return bytes;
}

}  // namespace uop::reference
