// Execute: inputs resolved on arrival; a plan made or fetched, and its kernels compiled or loaded, on the compile
// queue, unless all is at hand; the run, which waits for no compiler, on the run queue.
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
