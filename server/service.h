// The gRPC service: one line per RPC that says which handler serves it, and on which queue.
#pragma once

#include "server/server_state.h"
#include "uopd/v1/service.grpc.pb.h"

namespace uop {

class Service final : public uopd::v1::Uopd::CallbackService {
 public:
  /// `state` must outlive it.
  explicit Service(ServerState& state) : state_(state) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;

  Unary* Hello(Context*, const uopd::v1::HelloRequest*, uopd::v1::HelloReply*) override;
  Unary* Renew(Context*, const uopd::v1::RenewRequest*, uopd::v1::RenewReply*) override;
  Unary* Compile(Context*, const uopd::v1::CompileRequest*, uopd::v1::CompileReply*) override;
  Unary* Execute(Context*, const uopd::v1::ExecuteRequest*, uopd::v1::ExecuteReply*) override;
  grpc::ServerReadReactor<uopd::v1::PutBufferRequest>* PutBuffer(Context*, uopd::v1::PutBufferReply*) override;
  grpc::ServerWriteReactor<uopd::v1::GetBufferReply>* GetBuffer(Context*, const uopd::v1::GetBufferRequest*) override;
  Unary* FreeBuffers(Context*, const uopd::v1::FreeBuffersRequest*, uopd::v1::FreeBuffersReply*) override;
  Unary* ListBuffers(Context*, const uopd::v1::ListBuffersRequest*, uopd::v1::ListBuffersReply*) override;
  Unary* Explain(Context*, const uopd::v1::ExplainRequest*, uopd::v1::ExplainReply*) override;
  Unary* Status(Context*, const uopd::v1::StatusRequest*, uopd::v1::StatusReply*) override;

  ServerState& state_;
};

}  // namespace uop
