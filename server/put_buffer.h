// PutBuffer: bytes of a stream straight into pool memory.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/server_state.h"

namespace uop {

/// Returns what gRPC wants of the handler. `reply` lives as long as the call.
grpc::ServerReadReactor<grpc::ByteBuffer>* put_buffer(ServerState& state, grpc::CallbackServerContext& context,
                                                      grpc::ByteBuffer& reply);

}  // namespace uop
