// Plans between messages and data.
#pragma once

#include "core/ir/plan.h"
#include "core/support/status.h"
#include "uopd/v1/plan.pb.h"

namespace uop {

/// The message of a plan; the C text of the programs is left empty unless `with_sources`.
uopd::v1::Plan encode_plan(const Plan& plan, bool with_sources);

/// The plan of a message, which may come from a file that others have touched: verified by verify_plan. Errors:
/// DATA_LOSS that says what does not fit.
StatusOr<Plan> decode_plan(const uopd::v1::Plan& message);

}  // namespace uop
