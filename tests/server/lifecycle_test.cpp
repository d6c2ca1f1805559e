// Start, addresses, health, cancellation, overload, drain.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/support/byte_buffer.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <future>

#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

class LifecycleTest : public ServerTest {
 protected:
  /// The serving status of grpc.health.v1.Health/Check: 1 SERVING, 2 NOT_SERVING; read without its generated code,
  /// which Debian does not ship.
  int health(const std::string& service = "") const {
    const TestClient c(server->addresses().grpc);
    grpc::GenericStub stub(c.channel);
    const std::string request =
        service.empty() ? "" : "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
    const grpc::Slice slice(request);
    const grpc::ByteBuffer message(&slice, 1);
    grpc::ByteBuffer reply;
    std::promise<grpc::Status> done;
    const auto context = c.context();
    stub.UnaryCall(context.get(), "/grpc.health.v1.Health/Check", {}, &message, &reply,
                   [&](grpc::Status s) { done.set_value(std::move(s)); });
    const grpc::Status status = done.get_future().get();
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<grpc::Slice> slices;
    if (!reply.Dump(&slices).ok() || slices.empty() || slices[0].size() < 2) return 0;
    return slices[0].begin()[1];
  }

  /// A client that compiles what hangs; `started` is there when it has begun.
  struct SlowCompile {
    explicit SlowCompile(TestClient c, int elements) : client(std::move(c)), context(client.context()) {
      *request.mutable_graph() = graph_of(doubled(elements));
      thread = std::thread([this] { status = client.stub->Compile(context.get(), request, &reply); });
    }
    ~SlowCompile() { join(); }
    grpc::Status join() {
      if (thread.joinable()) thread.join();
      return status;
    }
    TestClient client;
    std::unique_ptr<grpc::ClientContext> context;
    v1::CompileRequest request;
    v1::CompileReply reply;
    grpc::Status status;
    std::thread thread;
  };

  ServerOptions hanging() const {
    ServerOptions o = measured();
    o.engine.compiler = hanging_compiler(directory);
    return o;
  }
  bool wait_for_compiler() const {
    return wait_until([&] { return std::filesystem::exists(directory / "started"); });
  }
  bool compiler_is_gone() const {
    const int pid = std::stoi(read_file(directory / "started"));
    return wait_until([&] { return ::kill(pid, 0) != 0; });
  }
};

TEST_F(LifecycleTest, HealthIsServingByNameAndOverall) {
  start(options());
  EXPECT_EQ(health(), 1);
  EXPECT_EQ(health("uopd.v1.Uopd"), 1);
}

TEST_F(LifecycleTest, SecondServerOnThePortFailsAndNamesIt) {
  start(measured());
  ServerOptions o = options();
  o.listen = server->addresses().grpc;
  StatusOr<std::unique_ptr<Server>> second = Server::start(o);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(second.status()), HasSubstr(o.listen));
  o = options();
  o.metrics = server->addresses().metrics;
  second = Server::start(o);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(second.status()), HasSubstr(o.metrics));
  EXPECT_TRUE(client().can_still_add());
}

TEST_F(LifecycleTest, UnixSocket) {
  ServerOptions o = options();
  o.unix_path = directory / "uopd.sock";
  start(o);
  TestClient c("unix:" + o.unix_path);
  c.say_hello();
  EXPECT_TRUE(c.can_still_add());
  struct stat info {};
  ASSERT_EQ(::lstat(o.unix_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);

  ServerOptions other = options();
  other.unix_path = o.unix_path;
  const auto second = Server::start(other);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(second.status()), HasSubstr(o.unix_path));
  EXPECT_TRUE(c.can_still_add()) << "the live one keeps its socket";
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(o.unix_path));

  const std::string file = directory / "plain";
  std::ofstream(file) << "no socket";
  other.unix_path = file;
  EXPECT_THAT(message(Server::start(other).status()), HasSubstr("no socket"));
  EXPECT_EQ(read_file(file), "no socket");
  other.unix_path = directory / std::string(200, 'x');
  EXPECT_THAT(message(Server::start(other).status()), HasSubstr("shorter"));
}

TEST_F(LifecycleTest, AddressesThatAreNone) {
  for (const char* address : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "nowhere.example:1"}) {
    ServerOptions o = options();
    o.listen = address;
    EXPECT_EQ(Server::start(o).status().code(), StatusCode::kInvalidArgument) << address;
  }
  ServerOptions o = options();
  o.listen = "none";
  EXPECT_THAT(message(Server::start(o).status()), HasSubstr("--unix"));
  start(options());
  EXPECT_EQ(server->addresses().metrics, "");
}

TEST_F(LifecycleTest, CancelledCompileStopsItsCompiler) {
  start(hanging());
  SlowCompile slow(client(), 16);
  ASSERT_TRUE(wait_for_compiler());
  slow.context->TryCancel();
  EXPECT_EQ(slow.join().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(compiler_is_gone());
  EXPECT_TRUE(wait_until([&] { return metric(R"(uopd_rpcs_total{code="CANCELLED",method="Compile"})") == 1; }));
  EXPECT_EQ(health(), 1);
}

TEST_F(LifecycleTest, APlanThatLacksItsKernelsTakesNoPlaceOfARun) {
  const std::string compiler = directory / "sometimes_hanging";
  const std::string hang = directory / "hang";
  std::ofstream(compiler) << "#!/bin/sh\n[ -e " << hang << " ] && exec " << hanging_compiler(directory)
                          << " \"$@\"\nexec gcc \"$@\"\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  ServerOptions o = options();
  o.engine.compiler = compiler;
  o.engine.loaded_kernels = 1;
  o.execute_jobs = 1;
  start(o);
  const TestClient c = client();
  v1::CompileRequest compile;
  *compile.mutable_graph() = graph_of(doubled(7));
  v1::CompileReply compiled;
  ASSERT_TRUE(c.call(&Stub::Compile, compile, compiled).ok());
  ASSERT_TRUE(c.can_still_add()) << "with its own kernel, for which the other has gone";
  std::vector<std::filesystem::path> kernels;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(o.engine.cache_dir))
    if (entry.path().extension() == ".kernel") kernels.push_back(entry.path());
  ASSERT_EQ(kernels.size(), 2u);
  for (const auto& kernel : kernels) std::filesystem::remove(kernel);
  std::ofstream(hang) << "now";

  const auto context = c.context();
  std::future<grpc::Status> slow = std::async(std::launch::async, [&] {
    v1::ExecuteRequest execute;
    execute.set_plan_id(compiled.plan_id());
    execute.add_inputs()->set_inline_bytes(bytes_of(std::vector<float>(7)));
    execute.set_inline_outputs(true);
    v1::ExecuteReply reply;
    return c.stub->Execute(context.get(), execute, &reply);
  });
  ASSERT_TRUE(wait_for_compiler());
  EXPECT_TRUE(c.can_still_add()) << "the only place for runs is free";
  context->TryCancel();
  EXPECT_EQ(slow.get().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(compiler_is_gone());
}

TEST_F(LifecycleTest, DeadlineStopsTheCompiler) {
  start(hanging());
  TestClient c = client();
  v1::CompileRequest request;
  *request.mutable_graph() = graph_of(doubled(16));
  const auto context = c.context();
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  v1::CompileReply reply;
  EXPECT_EQ(c.stub->Compile(context.get(), request, &reply).error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_TRUE(wait_until([&] { return !std::filesystem::exists(directory / "started") || compiler_is_gone(); }));
}

TEST_F(LifecycleTest, FullQueueRefusesAndHealthStillAnswers) {
  ServerOptions o = hanging();
  o.queue = 1;
  o.engine.compile_jobs = 1;
  start(o);
  std::vector<std::unique_ptr<SlowCompile>> all;
  std::size_t refused = 0;
  // Sixteen threads and one place to wait: the eighteenth at the latest is refused.
  for (int i = 0; i < 18; ++i) all.push_back(std::make_unique<SlowCompile>(client(), 100 + i));
  const std::string series = R"(uopd_rpcs_total{code="RESOURCE_EXHAUSTED",method="Compile"})";
  EXPECT_TRUE(wait_until([&] { return metric(series) >= 1; }));
  EXPECT_EQ(health(), 1);
  EXPECT_EQ(status().draining(), false);
  for (const auto& slow : all) slow->context->TryCancel();
  for (const auto& slow : all) {
    const grpc::Status status = slow->join();
    if (status.error_code() == grpc::RESOURCE_EXHAUSTED) {
      EXPECT_THAT(status.error_message(), HasSubstr("retry"));
      ++refused;
    }
  }
  EXPECT_GE(refused, 1u);
}

TEST_F(LifecycleTest, DrainRefusesNewWorkAndFinishesTheOld) {
  start(measured());
  TestClient c = client();
  // A stream that is open keeps the server until it is done.
  const auto context = c.context();
  v1::PutBufferReply reply;
  const auto writer = c.stub->PutBuffer(context.get(), &reply);
  v1::PutBufferRequest part;
  *part.mutable_header()->mutable_tensor() = tensor(v1::DTYPE_U8, 4);
  ASSERT_TRUE(writer->Write(part));
  ASSERT_TRUE(wait_until([&] { return status().pool_in_use_bytes() > 0; }));

  std::future<bool> drained = std::async(std::launch::async, [&] { return server->drain(); });
  ASSERT_TRUE(wait_until([&] { return status().draining(); })) << "Status still answers";
  EXPECT_EQ(metric("uopd_draining"), 1);
  EXPECT_EQ(health(), 2);
  v1::HelloRequest hello;
  hello.set_max_version(1);
  v1::HelloReply refused;
  const grpc::Status refusal = c.call(&Stub::Hello, hello, refused);
  EXPECT_EQ(refusal.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(refusal.error_message(), HasSubstr("draining"));

  part.set_chunk("1234");
  EXPECT_TRUE(writer->Write(part));
  writer->WritesDone();
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(reply.buffer().size(), 32u);
  EXPECT_TRUE(drained.get());
}

TEST_F(LifecycleTest, DrainEndsWhatTakesTooLong) {
  ServerOptions o = hanging();
  o.drain_seconds = 1;
  start(o);
  SlowCompile slow(client(), 16);
  ASSERT_TRUE(wait_for_compiler());
  EXPECT_FALSE(server->drain());
  const grpc::StatusCode code = slow.join().error_code();
  EXPECT_TRUE(code == grpc::CANCELLED || code == grpc::UNAVAILABLE) << code;
  EXPECT_TRUE(compiler_is_gone());
}

TEST_F(LifecycleTest, ClientsComeAndGoWithoutLeavingDescriptors) {
  start(options());
  EXPECT_TRUE(client().can_still_add());
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = descriptors();
  for (int i = 0; i < 50; ++i) client();
  EXPECT_TRUE(wait_until([&] { return descriptors() <= before + 4; })) << before << " before, now " << descriptors();
}

TEST_F(LifecycleTest, ManyClientsAtOnce) {
  start(options());
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const TestClient c = client();
      for (int i = 0; i < 25; ++i) right += c.can_still_add();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 8 * 25);
  EXPECT_EQ(status().kernel_compiles(), 1u);
}

}  // namespace
}  // namespace uop
