#include "client/cpp/connection.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "uopd/v1/service.grpc.pb.h"

namespace uop {
namespace {

using std::chrono::milliseconds;
using uopd::v1::Uopd;

/// The bytes of one message of an upload: large enough that a message costs little, small enough to overlap copying
/// with sending. A server may ask for less.
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;
/// Short calls (Hello, Renew, FreeBuffers, Status) answer at once or the server is not well.
constexpr milliseconds kShortCall{10'000};
/// Released buffers wait this long for others before they are freed together.
constexpr milliseconds kReleaseDelay{10};
/// So many are not held back for longer.
constexpr std::size_t kReleaseBatch = 1000;

/// The connection; its thread renews the lease when a third of it is left, and frees what was released.
class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::string address, const std::shared_ptr<grpc::Channel>& channel)
      : address_(std::move(address)), stub_(Uopd::NewStub(channel)) {}

  ~GrpcConnection() override {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    if (keeper_.joinable()) keeper_.join();
  }

  Status start() {
    uopd::v1::HelloRequest request;
    request.set_min_version(kMinProtocol);
    request.set_max_version(kMaxProtocol);
    request.set_client("uop-cpp/" UOPD_VERSION);
    StatusOr<uopd::v1::HelloReply> reply = call<uopd::v1::HelloReply>(&Uopd::Stub::Hello, request, kShortCall);
    if (!reply.ok()) return reply.status();
    hello_ = *std::move(reply);
    keeper_ = std::thread([this] { keep(); });
    return ok_status();
  }

  StatusOr<std::string> put(std::span<const std::byte> bytes, const uopd::v1::TensorSpec& tensor) override {
    grpc::ClientContext context;
    prepare(context, std::nullopt);
    uopd::v1::PutBufferReply reply;
    const auto writer = stub_->PutBuffer(&context, &reply);
    uopd::v1::PutBufferRequest header;
    *header.mutable_header()->mutable_tensor() = tensor;
    bool open = writer->Write(header);
    for (std::size_t at = 0; open && at < bytes.size();) {
      const std::size_t count = std::min<std::size_t>(chunk_bytes(), bytes.size() - at);
      uopd::v1::PutBufferRequest part;
      part.set_chunk(bytes.data() + at, count);
      open = writer->Write(part);
      at += count;
    }
    writer->WritesDone();
    if (const Status status = translated(writer->Finish()); !status.ok()) return status;
    return reply.buffer();
  }

  StatusOr<std::vector<std::byte>> get(const std::string& buffer, std::uint64_t bytes) override {
    grpc::ClientContext context;
    prepare(context, std::nullopt);
    uopd::v1::GetBufferRequest request;
    request.set_buffer(buffer);
    const auto reader = stub_->GetBuffer(&context, request);
    std::vector<std::byte> content(bytes);
    std::size_t at = 0;
    uopd::v1::GetBufferReply part;
    while (reader->Read(&part)) {
      const std::string& chunk = part.chunk();
      const std::size_t count = std::min(chunk.size(), content.size() - at);
      if (count > 0) std::memcpy(content.data() + at, chunk.data(), count);
      at += chunk.size();
    }
    if (const Status status = translated(reader->Finish()); !status.ok()) return status;
    if (at != bytes)
      return error(StatusCode::kInternal, "server {} sent {} bytes of a buffer of {}; report this", address_, at,
                   bytes);
    return content;
  }

  void release(std::string buffer) override {
    const std::scoped_lock lock(mutex_);
    released_.push_back(std::move(buffer));
    if (released_.size() == 1 || released_.size() == kReleaseBatch) wake_.notify_all();
  }

  StatusOr<uopd::v1::CompileReply> compile(const uopd::v1::CompileRequest& request, Timeout timeout) override {
    return call<uopd::v1::CompileReply>(&Uopd::Stub::Compile, request, timeout);
  }
  StatusOr<uopd::v1::ExecuteReply> execute(const uopd::v1::ExecuteRequest& request, Timeout timeout) override {
    return call<uopd::v1::ExecuteReply>(&Uopd::Stub::Execute, request, timeout);
  }
  StatusOr<uopd::v1::ExplainReply> explain(const uopd::v1::ExplainRequest& request, Timeout timeout) override {
    return call<uopd::v1::ExplainReply>(&Uopd::Stub::Explain, request, timeout);
  }
  StatusOr<uopd::v1::StatusReply> status() override {
    return call<uopd::v1::StatusReply>(&Uopd::Stub::Status, uopd::v1::StatusRequest(), kShortCall);
  }

  const std::string& address() const override { return address_; }

 private:
  template <class Reply, class Request>
  StatusOr<Reply> call(grpc::Status (Uopd::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                       const Request& request, Timeout timeout) {
    grpc::ClientContext context;
    prepare(context, timeout);
    Reply reply;
    if (const Status status = translated(((*stub_).*method)(&context, request, &reply)); !status.ok()) return status;
    return reply;
  }

  void prepare(grpc::ClientContext& context, Timeout timeout) const {
    if (!hello_.session().empty()) context.AddMetadata("uopd-session", hello_.session());
    if (timeout) context.set_deadline(std::chrono::system_clock::now() + *timeout);
  }

  Status translated(const grpc::Status& status) const {
    if (status.ok()) return ok_status();
    const auto code = static_cast<StatusCode>(status.error_code());  // one numbering for both
    if (code == StatusCode::kUnavailable)
      return error(code, "server {} is not available: {}; start one with `uop serve`, check the address, or try again",
                   address_, status.error_message());
    return Status(code, status.error_message());
  }

  std::uint64_t chunk_bytes() const {
    const std::uint64_t allowed = hello_.limits().chunk_bytes();
    return allowed == 0 ? kChunkBytes : std::min(kChunkBytes, allowed);
  }

  void keep() {
    const std::chrono::seconds lease(std::max(1u, hello_.lease_seconds()));
    auto renew_at = std::chrono::steady_clock::now() + lease * 2 / 3;
    std::unique_lock lock(mutex_);
    while (!closing_ || !released_.empty()) {
      wake_.wait_until(lock, renew_at, [this] { return closing_ || !released_.empty(); });
      if (!released_.empty()) {
        wake_.wait_for(lock, kReleaseDelay, [this] { return closing_ || released_.size() >= kReleaseBatch; });
        free_released(lock);
      }
      if (!closing_ && std::chrono::steady_clock::now() >= renew_at) {
        renew(lock);
        renew_at = std::chrono::steady_clock::now() + lease * 2 / 3;
      }
    }
  }

  // A call of the keeper that fails needs no report: a lost lease frees the buffers too, and the next call of the user
  // says what is wrong.
  void free_released(std::unique_lock<std::mutex>& lock) {
    uopd::v1::FreeBuffersRequest request;
    for (std::string& buffer : released_) request.add_buffers(std::move(buffer));
    released_.clear();
    lock.unlock();
    (void)call<uopd::v1::FreeBuffersReply>(&Uopd::Stub::FreeBuffers, request, kShortCall);
    lock.lock();
  }
  void renew(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    (void)call<uopd::v1::RenewReply>(&Uopd::Stub::Renew, uopd::v1::RenewRequest(), kShortCall);
    lock.lock();
  }

  const std::string address_;
  const std::unique_ptr<Uopd::Stub> stub_;
  uopd::v1::HelloReply hello_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::string> released_;
  bool closing_ = false;
  std::thread keeper_;
};

}  // namespace

StatusOr<std::shared_ptr<Connection>> Connection::open(const std::string& address, const Liveness& liveness) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // the server's limits hold; its replies are trusted
  // A session is one client's: a channel of its own, instead of one that gRPC shares by address.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Loopback and unix sockets must not go through a proxy that the environment names.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(liveness.ping_every.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(liveness.answer_within.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit: a long run sends no data
  const auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  auto connection = std::make_shared<GrpcConnection>(address, channel);
  if (const Status status = connection->start(); !status.ok()) return status;
  return std::shared_ptr<Connection>(std::move(connection));
}

}  // namespace uop
