// What the tests of the server share: a server in this process on free loopback ports with a cache directory of its
// own, and a client of it that speaks through the generated stub.
#pragma once

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/ir/text.h"
#include "core/wire/graph_codec.h"
#include "server/server.h"
#include "tests/temporary_directory.h"
#include "uopd/v1/service.grpc.pb.h"

namespace uop {

namespace v1 = uopd::v1;
using Stub = v1::Uopd::Stub;

/// Longer than anything takes on a busy machine; only a test that fails waits for it.
inline constexpr std::chrono::seconds kPatience{120};

inline bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A compiler that answers questions as gcc does; told to compile, it writes its pid to `started` and hangs.
inline std::string hanging_compiler(const TemporaryDirectory& directory) {
  const std::string path = directory / "hanging";
  std::ofstream(path) << "#!/bin/sh\ncase \"$1\" in --version|-print*) exec gcc \"$@\";; esac\n"
                      << "echo $$ > " << directory / "started.part"
                      << "\n"
                      << "mv " << directory / "started.part"
                      << " " << directory / "started"
                      << "\nexec sleep 600\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// The message of a listing (core/ir/text.h).
inline v1::Graph graph_of(const std::string& listing) {
  const StatusOr<RootedGraph> graph = parse_text(listing);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? encode_graph(graph->roots) : v1::Graph();
}

inline std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline std::vector<float> floats_of(const std::string& bytes) {
  const auto* const begin = reinterpret_cast<const float*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(float)};
}

inline v1::TensorSpec tensor(v1::DType dtype, std::int64_t elements) {
  v1::TensorSpec spec;
  spec.set_dtype(dtype);
  spec.set_elements(elements);
  return spec;
}

/// a + b of four f32; every server must answer it, whatever came before.
inline const char* const kSum =
    "%a = BUFFER slot=0 size=4 : f32[4]\n%b = BUFFER slot=1 size=4 : f32[4]\n%c = ADD(%a, %b)\nreturn %c\n";

/// A graph that no other size equals: what is not compiled yet.
inline std::string doubled(int elements) {
  return fmt::format("%a = BUFFER slot=0 size={0} : f32[{0}]\n%c = ADD(%a, %a)\nreturn %c\n", elements);
}

class TestClient {
 public:
  /// `target` as gRPC writes it: "127.0.0.1:1234", "unix:/path".
  explicit TestClient(const std::string& target) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("grpc.use_local_subchannel_pool", 1);  // a connection of its own
    arguments.SetMaxReceiveMessageSize(-1);
    channel = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
    stub = v1::Uopd::NewStub(channel);
  }

  void say_hello() {
    v1::HelloRequest request;
    request.set_min_version(1);
    request.set_max_version(1);
    request.set_client("test");
    const grpc::Status status = call(&Stub::Hello, request, hello);
    EXPECT_TRUE(status.ok()) << status.error_message();
    session = hello.session();
  }

  std::unique_ptr<grpc::ClientContext> context() const {
    auto c = std::make_unique<grpc::ClientContext>();
    c->set_deadline(std::chrono::system_clock::now() + kPatience);
    if (!session.empty()) c->AddMetadata("uopd-session", session);
    return c;
  }

  template <class Request, class Reply>
  grpc::Status call(grpc::Status (Stub::*rpc)(grpc::ClientContext*, const Request&, Reply*), const Request& request,
                    Reply& reply) const {
    return ((*stub).*rpc)(context().get(), request, &reply);
  }

  /// Header and chunks as they are given; the id ends up in `buffer`.
  grpc::Status put(const v1::TensorSpec& spec, const std::vector<std::string>& chunks, std::string* buffer = nullptr) {
    const auto c = context();
    v1::PutBufferReply reply;
    const auto writer = stub->PutBuffer(c.get(), &reply);
    v1::PutBufferRequest request;
    *request.mutable_header()->mutable_tensor() = spec;
    bool open = writer->Write(request);
    for (std::size_t i = 0; open && i < chunks.size(); ++i) {
      request.set_chunk(chunks[i]);
      open = writer->Write(request);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (buffer) *buffer = reply.buffer();
    return status;
  }

  /// The id of a new buffer of f32.
  std::string put(const std::vector<float>& values) {
    std::string id;
    const grpc::Status status =
        put(tensor(v1::DTYPE_F32, static_cast<std::int64_t>(values.size())), {bytes_of(values)}, &id);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return id;
  }

  grpc::Status get(const std::string& buffer, std::string* bytes, std::uint64_t offset = 0, std::uint64_t length = 0) {
    v1::GetBufferRequest request;
    request.set_buffer(buffer);
    request.set_offset(offset);
    request.set_length(length);
    const auto c = context();
    const auto reader = stub->GetBuffer(c.get(), request);
    for (v1::GetBufferReply part; reader->Read(&part);) *bytes += part.chunk();
    return reader->Finish();
  }

  /// Runs kSum on two buffers, inline or not.
  bool can_still_add() const {
    v1::ExecuteRequest request;
    *request.mutable_graph() = graph_of(kSum);
    request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4}));
    request.add_inputs()->set_inline_bytes(bytes_of({10, 20, 30, 40}));
    request.set_inline_outputs(true);
    v1::ExecuteReply reply;
    const grpc::Status status = call(&Stub::Execute, request, reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return status.ok() && floats_of(reply.outputs(0).inline_bytes()) == std::vector<float>{11, 22, 33, 44};
  }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Stub> stub;
  v1::HelloReply hello;
  std::string session;
};

class ServerTest : public testing::Test {
 protected:
  /// Options for this machine and test: a free port, a new cache directory, two threads.
  ServerOptions options() const {
    ServerOptions o;
    o.listen = "127.0.0.1:0";
    o.metrics = "none";  // its HTTP server takes two seconds to stop
    o.engine.cache_dir = directory / "cache";
    o.engine.threads = 2;
    o.engine.pool_bytes = 256 << 20;
    return o;
  }

  /// The same with metrics, for tests that scrape.
  ServerOptions measured() const {
    ServerOptions o = options();
    o.metrics = "127.0.0.1:0";
    return o;
  }

  void start(const ServerOptions& o) {
    StatusOr<std::unique_ptr<Server>> started = Server::start(o);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }

  TestClient client() const {
    TestClient c(server->addresses().grpc);
    c.say_hello();
    return c;
  }

  /// What Prometheus gets.
  std::string scrape() const {
    const std::string& address = server->addresses().metrics;
    const std::size_t colon = address.rfind(':');
    boost::asio::ip::tcp::iostream http(address.substr(0, colon), address.substr(colon + 1));
    http << "GET /metrics HTTP/1.0\r\n\r\n" << std::flush;
    std::string text{std::istreambuf_iterator<char>(http), std::istreambuf_iterator<char>()};
    const std::size_t body = text.find("\r\n\r\n");
    EXPECT_NE(body, std::string::npos) << text;
    return body == std::string::npos ? "" : text.substr(body + 4);
  }

  /// The value of a series, by its name and labels as they are written.
  double metric(const std::string& series) const {
    const std::string text = "\n" + scrape();
    const std::size_t at = text.find("\n" + series + " ");
    EXPECT_NE(at, std::string::npos) << series;
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }

  v1::StatusReply status() const {
    v1::StatusReply reply;
    const grpc::Status s = TestClient(server->addresses().grpc).call(&Stub::Status, v1::StatusRequest(), reply);
    EXPECT_TRUE(s.ok()) << s.error_message();
    return reply;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Server> server;
};

}  // namespace uop
