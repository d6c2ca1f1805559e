// The one way in which unary calls are served: admitted, parsed, done in stages on the queues they belong to, caught,
// counted. gRPC hands requests over as bytes, so that nothing is made of them before they have been looked at.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <vector>

#include "server/call.h"

namespace uop {

/// A part of a call's work: where it runs (nullptr: at once, for what only looks something up), what it is, and whether
/// there is anything to do after the stages before it (nullptr: always).
struct Stage {
  WorkQueue* queue;
  std::function<Status(Call&)> work;
  std::function<bool()> needed = nullptr;
};

/// The messages of a call and what fills the reply.
struct Exchange {
  std::unique_ptr<google::protobuf::Message> request;
  std::unique_ptr<google::protobuf::Message> reply;
  std::function<std::vector<Stage>()> stages;  // asked for when the request has been parsed
};

/// The bytes of a call as gRPC hands them over; both live as long as it.
struct ExchangeBytes {
  const grpc::ByteBuffer* request;
  grpc::ByteBuffer* reply;
};

/// Runs the stages in order; the first error, or the end, finishes the call, with the reply if all went well. Returns
/// what gRPC wants of the handler. `context` lives as long as the call.
grpc::ServerUnaryReactor* run_unary(ServerState& state, Method method, grpc::CallbackServerContext& context,
                                    ExchangeBytes bytes, Exchange exchange);

/// The same with the stages that `stages(request, reply)` returns.
template <class Request, class Reply, class Stages>
grpc::ServerUnaryReactor* run_unary(ServerState& state, Method method, grpc::CallbackServerContext& context,
                                    ExchangeBytes bytes, Stages stages) {
  auto request = std::make_unique<Request>();
  auto reply = std::make_unique<Reply>();
  const auto ask = [&in = std::as_const(*request), &out = *reply, stages] { return stages(in, out); };
  return run_unary(state, method, context, bytes, {std::move(request), std::move(reply), ask});
}

}  // namespace uop
