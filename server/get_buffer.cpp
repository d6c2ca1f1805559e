#include "server/get_buffer.h"

#include <algorithm>

#include "server/call.h"
#include "server/message_bytes.h"
#include "server/tensor_message.h"
#include "uopd/v1/service.pb.h"

namespace uop {
namespace {

using uopd::v1::GetBufferReply;
using uopd::v1::GetBufferRequest;

class GetBuffer final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  GetBuffer(ServerState& state, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request)
      : call_(state, Method::kGetBuffer, context), watch_(state.streams, context), request_bytes_(request) {}

  void start() {
    const Status status = call_.guarded([this] { return begin(); });
    status.ok() ? write_next() : finish(status);
  }

 private:
  Status begin() {
    if (const Status s = call_.admit(); !s.ok()) return s;
    if (const Status s = parse_message(request_bytes_, request_); !s.ok()) return s;
    const StatusOr<Session*> session = call_.session();
    if (!session.ok()) return session.status();
    StatusOr<StoredBuffer> buffer = (*session)->find(request_.buffer());
    if (!buffer.ok()) return buffer.status();
    buffer_ = *std::move(buffer);
    const std::uint64_t bytes = buffer_.memory->bytes();
    if (request_.offset() > bytes || request_.length() > bytes - request_.offset())
      return error(StatusCode::kOutOfRange, "offset {}, length {}: the buffer has {} bytes; ask for a part within it",
                   request_.offset(), request_.length(), bytes);
    at_ = request_.offset();
    end_ = request_.length() == 0 ? bytes : at_ + request_.length();
    *reply_.mutable_tensor() = to_message(buffer_.tensor);
    return ok_status();
  }

  /// One message is in flight at a time, so a slow reader costs the memory of one chunk.
  void write_next() {
    const Status status = call_.guarded([this] {
      const std::uint64_t size = std::min(end_ - at_, call_.state().limits.chunk_bytes);
      reply_.set_chunk(static_cast<const char*>(buffer_.memory->data()) + at_, size);
      at_ += size;
      return write_message(reply_, reply_bytes_);
    });
    status.ok() ? StartWrite(&reply_bytes_) : finish(status);
  }

  void OnWriteDone(bool ok) override {
    watch_.touch();
    if (!ok) return finish(error(StatusCode::kCancelled, "the client went away, or read nothing for too long"));
    if (at_ == end_) return finish(ok_status());
    reply_.clear_tensor();
    write_next();
  }

  void finish(const Status& status) { Finish(call_.finish(status)); }

  void OnCancel() override { call_.stop(); }
  void OnDone() override { delete this; }

  Call call_;
  IdleStreams::Watch watch_;
  grpc::ByteBuffer request_bytes_;
  GetBufferRequest request_;
  StoredBuffer buffer_;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
  GetBufferReply reply_;
  grpc::ByteBuffer reply_bytes_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* get_buffer(ServerState& state, grpc::CallbackServerContext& context,
                                                       const grpc::ByteBuffer& request) {
  auto* const call = new GetBuffer(state, context, request);
  call->start();
  return call;
}

}  // namespace uop
