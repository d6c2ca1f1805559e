#include "server/unary_call.h"

#include "server/message_bytes.h"

namespace uop {
namespace {

/// Lives from the arrival of the call until OnDone, which gRPC calls once Finish has run and nobody else will call it.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(ServerState& state, Method method, grpc::CallbackServerContext& context, ExchangeBytes bytes,
            Exchange exchange)
      : call_(state, method, context), bytes_(bytes), exchange_(std::move(exchange)) {}

  void start() {
    const Status begun = call_.guarded([&] { return begin(); });
    begun.ok() ? go_on() : finish(begun);
  }

 private:
  Status begin() {
    if (const Status s = call_.admit(); !s.ok()) return s;
    // Nobody else reads the bytes; for the rest of the call the message is enough.
    grpc::ByteBuffer request;
    request.Swap(const_cast<grpc::ByteBuffer*>(bytes_.request));
    if (const Status s = parse_message(request, *exchange_.request); !s.ok()) return s;
    stages_ = exchange_.stages();
    return ok_status();
  }

  /// Runs stages until one has to wait in a queue, which then goes on here.
  void go_on() {
    while (next_ < stages_.size()) {
      const Stage& stage = stages_[next_++];
      if (stage.needed && !stage.needed()) continue;
      if (stage.queue) {
        const auto turn = [this, &stage](const Status& s, WorkQueue::Waited waited) { take_turn(stage, s, waited); };
        const Status queued = call_.guarded([&] { return stage.queue->submit(call_.cancel(), turn); });
        if (!queued.ok()) finish(queued);
        return;  // from here on the call may be gone
      }
      if (!run(stage)) return;
    }
    finish(call_.guarded([&] { return write_reply(); }));
  }

  void take_turn(const Stage& stage, const Status& status, WorkQueue::Waited waited) {
    call_.add_queued(waited);
    if (!status.ok()) return finish(status);
    if (run(stage)) go_on();
  }

  /// False where the stage ended the call.
  bool run(const Stage& stage) {
    const Status status = call_.guarded([&] { return stage.work(call_); });
    if (!status.ok()) finish(status);
    return status.ok();
  }

  Status write_reply() {
    const std::uint64_t bytes = exchange_.reply->ByteSizeLong();
    const std::uint64_t limit = call_.state().limits.message_bytes;
    if (bytes > limit)
      return error(StatusCode::kResourceExhausted,
                   "the reply takes {} bytes, a message at most {}; ask for a smaller part, or start uopd with a "
                   "larger --max-message-bytes",
                   bytes, limit);
    return write_message(*exchange_.reply, *bytes_.reply);
  }

  void finish(const Status& status) { Finish(call_.finish(status)); }

  void OnCancel() override { call_.stop(); }
  void OnDone() override { delete this; }

  Call call_;
  const ExchangeBytes bytes_;
  const Exchange exchange_;
  std::vector<Stage> stages_;
  std::size_t next_ = 0;
};

}  // namespace

grpc::ServerUnaryReactor* run_unary(ServerState& state, Method method, grpc::CallbackServerContext& context,
                                    ExchangeBytes bytes, Exchange exchange) {
  auto* const call = new UnaryCall(state, method, context, bytes, std::move(exchange));
  call->start();
  return call;
}

}  // namespace uop
