#include "server/put_buffer.h"

#include <cstring>

#include "server/call.h"
#include "server/message_bytes.h"
#include "server/tensor_message.h"
#include "uopd/v1/service.pb.h"

namespace uop {
namespace {

using uopd::v1::PutBufferRequest;

class PutBuffer final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  PutBuffer(ServerState& state, grpc::CallbackServerContext& context, grpc::ByteBuffer& reply)
      : call_(state, Method::kPutBuffer, context),
        watch_(state.streams, context),
        context_(context),
        reply_bytes_(reply) {}

  void start() {
    go_on(call_.guarded([this] { return begin(); }));
  }

 private:
  Status begin() {
    if (const Status s = call_.admit(); !s.ok()) return s;
    const StatusOr<Session*> session = call_.session();
    if (!session.ok()) return session.status();
    session_ = *session;
    return ok_status();
  }

  void OnReadDone(bool ok) override {
    watch_.touch();
    if (!ok) return finish(call_.guarded([this] { return end(); }));
    go_on(call_.guarded([this] { return take(); }));
  }

  void go_on(const Status& status) { status.ok() ? StartRead(&request_bytes_) : finish(status); }

  Status take() {
    if (const Status s = parse_message(request_bytes_, request_); !s.ok()) return s;
    switch (request_.part_case()) {
      case PutBufferRequest::kHeader: return take_header(request_.header());
      case PutBufferRequest::kChunk: return take_chunk(request_.chunk());
      case PutBufferRequest::PART_NOT_SET: break;
    }
    return invalid_argument("part: a message of the stream is neither header nor chunk; send the header, then chunks");
  }

  /// Reserves the memory before any byte is read.
  Status take_header(const PutBufferRequest::Header& header) {
    if (buffer_.memory) return invalid_argument("header: there was one already; put each buffer by a call of its own");
    const StatusOr<TensorSpec> tensor = from_message(header.tensor());
    if (!tensor.ok()) return tensor.status();
    StatusOr<BufferPtr> memory = call_.state().engine->pool().allocate(tensor->bytes());
    if (!memory.ok()) return memory.status();
    buffer_ = {*std::move(memory), *tensor};
    return ok_status();
  }

  Status take_chunk(const std::string& chunk) {
    if (!buffer_.memory) return invalid_argument("chunk: it came before the header; send the header first");
    const std::uint64_t limit = call_.state().limits.chunk_bytes;
    if (chunk.size() > limit)
      return error(StatusCode::kResourceExhausted, "chunk: {} bytes, at most {} are allowed; send smaller chunks",
                   chunk.size(), limit);
    const std::uint64_t bytes = buffer_.tensor.bytes();
    if (chunk.size() > bytes - received_)
      return invalid_argument("chunk: more bytes than the {} that the header says ({}); send exactly those", bytes,
                              describe(buffer_.tensor));
    if (!chunk.empty()) std::memcpy(static_cast<char*>(buffer_.memory->data()) + received_, chunk.data(), chunk.size());
    received_ += chunk.size();
    return ok_status();
  }

  /// The client has sent all it had, or is gone.
  Status end() {
    if (const Status s = call_.cancel().status(); !s.ok()) return s;
    if (!buffer_.memory)
      return invalid_argument("header: the stream ended without one; send the header, then the bytes");
    const std::uint64_t bytes = buffer_.tensor.bytes();
    if (received_ != bytes)
      return invalid_argument(
          "chunk: the stream ended after {} of the {} bytes that the header says ({}); send all of them", received_,
          bytes, describe(buffer_.tensor));
    StatusOr<std::string> id = session_->add(std::move(buffer_));
    if (!id.ok()) return id.status();
    id_ = *std::move(id);
    uopd::v1::PutBufferReply reply;
    reply.set_buffer(id_);
    return write_message(reply, reply_bytes_);
  }

  void finish(const Status& status) {
    buffer_ = {};
    Finish(call_.finish(status));
  }

  void OnCancel() override { call_.stop(); }

  void OnDone() override {
    // A client that went away before the reply has no use for the buffer, and can't free it.
    if (context_.IsCancelled() && !id_.empty()) session_->free(id_);
    delete this;
  }

  Call call_;
  IdleStreams::Watch watch_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& reply_bytes_;
  Session* session_ = nullptr;  // kept by call_
  grpc::ByteBuffer request_bytes_;
  PutBufferRequest request_;
  StoredBuffer buffer_;
  std::uint64_t received_ = 0;
  std::string id_;  // of the finished buffer
};

}  // namespace

grpc::ServerReadReactor<grpc::ByteBuffer>* put_buffer(ServerState& state, grpc::CallbackServerContext& context,
                                                      grpc::ByteBuffer& reply) {
  auto* const call = new PutBuffer(state, context, reply);
  call->start();
  return call;
}

}  // namespace uop
