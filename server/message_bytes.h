// Messages from and to the bytes that gRPC carries. gRPC would parse them by itself, but before anyone could tell how
// much memory that takes.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include "core/support/status.h"

namespace uop {

/// Fills `message` from `bytes`, which are gone then. Errors: check_message_bytes's (core/wire/message_bytes.h), before
/// anything is parsed; INVALID_ARGUMENT for bytes that are no such message.
Status parse_message(grpc::ByteBuffer& bytes, google::protobuf::Message& message);

/// Fills `bytes`. Errors: INTERNAL.
Status write_message(const google::protobuf::Message& message, grpc::ByteBuffer& bytes);

}  // namespace uop
