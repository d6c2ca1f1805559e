#include "server/message_bytes.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "core/wire/message_bytes.h"

namespace uop {

Status parse_message(grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  {
    grpc::ProtoBufferReader reader(&bytes);
    if (const Status s = check_message_bytes(reader, *message.GetDescriptor()); !s.ok()) return s;
  }
  grpc::ProtoBufferReader reader(&bytes);
  const bool parsed = reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
  bytes.Clear();
  if (parsed) return ok_status();
  return invalid_argument("the bytes are not a {}; send a message of proto/uopd/v1/service.proto",
                          message.GetDescriptor()->full_name());
}

Status write_message(const google::protobuf::Message& message, grpc::ByteBuffer& bytes) {
  bytes.Clear();
  bool is_ours = false;
  const grpc::Status written =
      grpc::SerializationTraits<google::protobuf::Message>::Serialize(message, &bytes, &is_ours);
  if (written.ok()) return ok_status();
  return error(StatusCode::kInternal, "a {} can't be written: {}", message.GetDescriptor()->full_name(),
               written.error_message());
}

}  // namespace uop
