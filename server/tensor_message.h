// Descriptions of tensors between messages and structs.
#pragma once

#include "core/ir/plan.h"
#include "core/support/status.h"
#include "uopd/v1/plan.pb.h"

namespace uop {

uopd::v1::TensorSpec to_message(const TensorSpec& tensor);

/// Errors: INVALID_ARGUMENT for an unknown dtype, or a number of elements that no tensor can have.
StatusOr<TensorSpec> from_message(const uopd::v1::TensorSpec& message);

/// "f32, 12 elements"
std::string describe(const TensorSpec& tensor);

}  // namespace uop
