// Execute: inputs resolved on arrival, a graph turned into a plan on the compile queue, the run on the run queue.
//
// `execute_stages` is what the service calls.
#pragma once

#include <vector>

#include "server/unary_call.h"
#include "uopd/v1/service.pb.h"

namespace uop {

/// `request` and `reply` live as long as the call.
std::vector<Stage> execute_stages(ServerState& state, const uopd::v1::ExecuteRequest& request,
                                  uopd::v1::ExecuteReply& reply);

}  // namespace uop
