#include "server/service.h"

#include "server/compile_handlers.h"
#include "server/execute_handler.h"
#include "server/get_buffer.h"
#include "server/put_buffer.h"
#include "server/session_handlers.h"
#include "server/status_handler.h"
#include "server/unary_call.h"

namespace uop {

namespace v1 = uopd::v1;
using Unary = grpc::ServerUnaryReactor;
using Stages = std::vector<Stage>;

namespace {

/// A call of one stage, done by `handler(call, request, reply)`.
template <class Request, class Reply, class Handler>
Unary* serve(ServerState& state, Method method, grpc::CallbackServerContext& context, ExchangeBytes bytes,
             WorkQueue* queue, Handler handler) {
  return run_unary<Request, Reply>(state, method, context, bytes, [=](const Request& request, Reply& reply) {
    return Stages{{queue, [&request, &reply, handler](Call& call) { return handler(call, request, reply); }}};
  });
}

}  // namespace

Unary* Service::Hello(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::HelloRequest, v1::HelloReply>(state_, Method::kHello, *context, {request, reply}, nullptr, hello);
}

Unary* Service::Renew(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::RenewRequest, v1::RenewReply>(
      state_, Method::kRenew, *context, {request, reply}, nullptr,
      [](Call& call, const v1::RenewRequest&, v1::RenewReply& r) { return renew(call, r); });
}

Unary* Service::Compile(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::CompileRequest, v1::CompileReply>(state_, Method::kCompile, *context, {request, reply},
                                                     state_.compiles.get(), compile);
}

Unary* Service::Execute(Context* context, const Bytes* request, Bytes* reply) {
  return run_unary<v1::ExecuteRequest, v1::ExecuteReply>(
      state_, Method::kExecute, *context, {request, reply},
      [this](const v1::ExecuteRequest& q, v1::ExecuteReply& r) { return execute_stages(state_, q, r); });
}

grpc::ServerReadReactor<grpc::ByteBuffer>* Service::PutBuffer(Context* context, Bytes* reply) {
  return put_buffer(state_, *context, *reply);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Service::GetBuffer(Context* context, const Bytes* request) {
  return get_buffer(state_, *context, *request);
}

Unary* Service::FreeBuffers(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::FreeBuffersRequest, v1::FreeBuffersReply>(state_, Method::kFreeBuffers, *context, {request, reply},
                                                             nullptr, free_buffers);
}

Unary* Service::ListBuffers(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::ListBuffersRequest, v1::ListBuffersReply>(
      state_, Method::kListBuffers, *context, {request, reply}, nullptr,
      [](Call& call, const v1::ListBuffersRequest&, v1::ListBuffersReply& r) { return list_buffers(call, r); });
}

Unary* Service::Explain(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::ExplainRequest, v1::ExplainReply>(state_, Method::kExplain, *context, {request, reply},
                                                     state_.compiles.get(), explain);
}

Unary* Service::Status(Context* context, const Bytes* request, Bytes* reply) {
  return serve<v1::StatusRequest, v1::StatusReply>(
      state_, Method::kStatus, *context, {request, reply}, nullptr,
      [](Call& call, const v1::StatusRequest&, v1::StatusReply& r) { return server_status(call, r); });
}

}  // namespace uop
