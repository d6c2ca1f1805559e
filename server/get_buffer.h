// GetBuffer: a buffer, or a part of it, as a stream of chunks, each sent when the one before it has gone out.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/server_state.h"

namespace uop {

/// Returns what gRPC wants of the handler. `request` lives as long as the call.
grpc::ServerWriteReactor<grpc::ByteBuffer>* get_buffer(ServerState& state, grpc::CallbackServerContext& context,
                                                       const grpc::ByteBuffer& request);

}  // namespace uop
