// The gRPC service: one line per RPC that says which handler serves it, and on which queue. All take and give bytes:
// message_bytes.h says why.
#pragma once

#include "server/server_state.h"
#include "uopd/v1/service.grpc.pb.h"

namespace uop {

/// The generated service with each of its methods over bytes.
class ByteService {
  using Uopd = uopd::v1::Uopd;
  using Buffers = Uopd::WithRawCallbackMethod_PutBuffer<Uopd::WithRawCallbackMethod_GetBuffer<
      Uopd::WithRawCallbackMethod_FreeBuffers<Uopd::WithRawCallbackMethod_ListBuffers<Uopd::Service>>>>;
  using Programs = Uopd::WithRawCallbackMethod_Compile<
      Uopd::WithRawCallbackMethod_Execute<Uopd::WithRawCallbackMethod_Explain<Buffers>>>;

 public:
  using Methods = Uopd::WithRawCallbackMethod_Hello<
      Uopd::WithRawCallbackMethod_Renew<Uopd::WithRawCallbackMethod_Status<Programs>>>;
};

class Service final : public ByteService::Methods {
 public:
  /// `state` must outlive it.
  explicit Service(ServerState& state) : state_(state) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Unary = grpc::ServerUnaryReactor;

  Unary* Hello(Context*, const Bytes*, Bytes*) override;
  Unary* Renew(Context*, const Bytes*, Bytes*) override;
  Unary* Compile(Context*, const Bytes*, Bytes*) override;
  Unary* Execute(Context*, const Bytes*, Bytes*) override;
  grpc::ServerReadReactor<Bytes>* PutBuffer(Context*, Bytes*) override;
  grpc::ServerWriteReactor<Bytes>* GetBuffer(Context*, const Bytes*) override;
  Unary* FreeBuffers(Context*, const Bytes*, Bytes*) override;
  Unary* ListBuffers(Context*, const Bytes*, Bytes*) override;
  Unary* Explain(Context*, const Bytes*, Bytes*) override;
  Unary* Status(Context*, const Bytes*, Bytes*) override;

  ServerState& state_;
};

}  // namespace uop
