// The one way in which unary calls are served: admitted, done in stages on the queues they belong to, caught, counted.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <vector>

#include "server/call.h"

namespace uop {

/// A part of a call's work: where it runs (nullptr: at once, for what only looks something up) and what it is.
struct Stage {
  WorkQueue* queue;
  std::function<Status(Call&)> work;
};

/// Runs the stages in order; the first error, or the end, finishes the call, with `reply` if all went well. Returns
/// what gRPC wants of the handler. `context` and `reply` live as long as the call.
grpc::ServerUnaryReactor* run_unary(ServerState& state, Method method, grpc::CallbackServerContext& context,
                                    const google::protobuf::Message& reply, std::vector<Stage> stages);

}  // namespace uop
