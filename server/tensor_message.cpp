#include "server/tensor_message.h"

#include "core/ir/shape_rules.h"

namespace uop {

uopd::v1::TensorSpec to_message(const TensorSpec& tensor) {
  uopd::v1::TensorSpec message;
  message.set_dtype(static_cast<uopd::v1::DType>(tensor.dtype));
  message.set_elements(tensor.elements);
  return message;
}

StatusOr<TensorSpec> from_message(const uopd::v1::TensorSpec& message) {
  const auto dtype = dtype_of_number(static_cast<std::uint32_t>(message.dtype()));
  if (!dtype)
    return invalid_argument("tensor.dtype: {} is not a dtype; the table of dtypes is in the reply of Hello",
                            static_cast<int>(message.dtype()));
  if (message.elements() < 0 || message.elements() > kMaxElements)
    return invalid_argument("tensor.elements: {} is not a number of elements; give one in 0..{}", message.elements(),
                            kMaxElements);
  return TensorSpec{*dtype, message.elements()};
}

std::string describe(const TensorSpec& tensor) {
  return fmt::format("{}, {} elements", name(tensor.dtype), tensor.elements);
}

}  // namespace uop
