#include "server/unary_call.h"

namespace uop {
namespace {

/// Lives from the arrival of the call until OnDone, which gRPC calls once Finish has run and nobody else will call it.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(ServerState& state, Method method, grpc::CallbackServerContext& context,
            const google::protobuf::Message& reply, std::vector<Stage> stages)
      : call_(state, method, context), reply_(reply), stages_(std::move(stages)) {}

  void start() {
    const Status admitted = call_.admit();
    admitted.ok() ? go_on() : finish(admitted);
  }

 private:
  /// Runs stages until one has to wait in a queue, which then goes on here.
  void go_on() {
    while (next_ < stages_.size()) {
      const Stage& stage = stages_[next_++];
      if (stage.queue) {
        const auto turn = [this, &stage](const Status& s, WorkQueue::Waited waited) { take_turn(stage, s, waited); };
        const Status queued = call_.guarded([&] { return stage.queue->submit(call_.cancel(), turn); });
        if (!queued.ok()) finish(queued);
        return;  // from here on the call may be gone
      }
      if (!run(stage)) return;
    }
    finish(check_size());
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

  Status check_size() const {
    const std::uint64_t bytes = reply_.ByteSizeLong();
    const std::uint64_t limit = call_.state().limits.message_bytes;
    if (bytes <= limit) return ok_status();
    return error(StatusCode::kResourceExhausted,
                 "the reply takes {} bytes, a message at most {}; ask for a smaller part, or start uopd with a larger "
                 "--max-message-bytes",
                 bytes, limit);
  }

  void finish(const Status& status) { Finish(call_.finish(status)); }

  void OnCancel() override { call_.stop(); }
  void OnDone() override { delete this; }

  Call call_;
  const google::protobuf::Message& reply_;
  const std::vector<Stage> stages_;
  std::size_t next_ = 0;
};

}  // namespace

grpc::ServerUnaryReactor* run_unary(ServerState& state, Method method, grpc::CallbackServerContext& context,
                                    const google::protobuf::Message& reply, std::vector<Stage> stages) {
  auto* const call = new UnaryCall(state, method, context, reply, std::move(stages));
  call->start();
  return call;
}

}  // namespace uop
