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

Unary* Service::Hello(Context* context, const v1::HelloRequest* request, v1::HelloReply* reply) {
  return run_unary(state_, Method::kHello, *context, *reply,
                   {{nullptr, [=](Call& call) { return hello(call, *request, *reply); }}});
}

Unary* Service::Renew(Context* context, const v1::RenewRequest*, v1::RenewReply* reply) {
  return run_unary(state_, Method::kRenew, *context, *reply,
                   {{nullptr, [=](Call& call) { return renew(call, *reply); }}});
}

Unary* Service::Compile(Context* context, const v1::CompileRequest* request, v1::CompileReply* reply) {
  return run_unary(state_, Method::kCompile, *context, *reply,
                   {{state_.compiles.get(), [=](Call& call) { return compile(call, *request, *reply); }}});
}

Unary* Service::Execute(Context* context, const v1::ExecuteRequest* request, v1::ExecuteReply* reply) {
  return run_unary(state_, Method::kExecute, *context, *reply, execute_stages(state_, *request, *reply));
}

grpc::ServerReadReactor<v1::PutBufferRequest>* Service::PutBuffer(Context* context, v1::PutBufferReply* reply) {
  return put_buffer(state_, *context, *reply);
}

grpc::ServerWriteReactor<v1::GetBufferReply>* Service::GetBuffer(Context* context,
                                                                 const v1::GetBufferRequest* request) {
  return get_buffer(state_, *context, *request);
}

Unary* Service::FreeBuffers(Context* context, const v1::FreeBuffersRequest* request, v1::FreeBuffersReply* reply) {
  return run_unary(state_, Method::kFreeBuffers, *context, *reply,
                   {{nullptr, [=](Call& call) { return free_buffers(call, *request, *reply); }}});
}

Unary* Service::ListBuffers(Context* context, const v1::ListBuffersRequest*, v1::ListBuffersReply* reply) {
  return run_unary(state_, Method::kListBuffers, *context, *reply,
                   {{nullptr, [=](Call& call) { return list_buffers(call, *reply); }}});
}

Unary* Service::Explain(Context* context, const v1::ExplainRequest* request, v1::ExplainReply* reply) {
  return run_unary(state_, Method::kExplain, *context, *reply,
                   {{state_.compiles.get(), [=](Call& call) { return explain(call, *request, *reply); }}});
}

Unary* Service::Status(Context* context, const v1::StatusRequest*, v1::StatusReply* reply) {
  return run_unary(state_, Method::kStatus, *context, *reply,
                   {{nullptr, [=](Call& call) { return server_status(call, *reply); }}});
}

}  // namespace uop
