// PutBuffer: bytes of a stream straight into pool memory.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "server/server_state.h"
#include "uopd/v1/service.pb.h"

namespace uop {

/// Returns what gRPC wants of the handler.
grpc::ServerReadReactor<uopd::v1::PutBufferRequest>* put_buffer(ServerState& state,
                                                                grpc::CallbackServerContext& context,
                                                                uopd::v1::PutBufferReply& reply);

}  // namespace uop
