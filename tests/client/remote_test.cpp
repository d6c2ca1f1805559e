// What the remote device makes of a server's answers, with a stand-in for the server.
#include "client/cpp/remote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/connection.h"
#include "core/ir/build.h"

namespace uop {
namespace {

namespace proto = uopd::v1;

/// Knows one plan: input slots swapped, one output for both roots. Notes what it is asked.
class FakeConnection final : public Connection {
 public:
  StatusOr<std::string> put(std::span<const std::byte>, const proto::TensorSpec&) override {
    return "b" + std::to_string(buffers_++);
  }
  StatusOr<std::vector<std::byte>> get(const std::string&, std::uint64_t bytes) override {
    return std::vector<std::byte>(bytes);
  }
  void release(std::string buffer) override { released.push_back(std::move(buffer)); }

  StatusOr<proto::CompileReply> compile(const proto::CompileRequest&, Timeout) override {
    calls.push_back("compile");
    proto::CompileReply reply;
    reply.set_plan_id("p");
    reply.add_input_slots(1);
    reply.add_input_slots(0);
    reply.add_root_outputs(0);
    reply.add_root_outputs(0);
    reply.set_origin(proto::COMPILED);
    reply.set_kernels_compiled(3);
    return reply;
  }
  StatusOr<proto::ExecuteReply> execute(const proto::ExecuteRequest& request, Timeout) override {
    std::string call = "execute " + request.plan_id();
    for (const proto::Input& input : request.inputs()) call += " " + input.buffer();
    calls.push_back(call);
    if (forgotten) {
      forgotten = false;
      return not_found("plan {} is not known", request.plan_id());
    }
    proto::ExecuteReply reply;
    proto::Output& output = *reply.add_outputs();
    output.set_buffer("out");
    output.mutable_tensor()->set_dtype(proto::DTYPE_F32);
    output.mutable_tensor()->set_elements(2);
    reply.mutable_report()->set_origin(proto::MEMORY);
    return reply;
  }
  StatusOr<proto::ExplainReply> explain(const proto::ExplainRequest&, Timeout) override {
    return not_found("nothing to explain");
  }
  StatusOr<proto::StatusReply> status() override { return proto::StatusReply(); }
  const std::string& address() const override { return address_; }

  std::vector<std::string> calls;
  std::vector<std::string> released;
  bool forgotten = false;  // the next execute does not know the plan

 private:
  std::string address_ = "nowhere";
  int buffers_ = 0;
};

TEST(RemoteTest, APlanIsBoundByItsSlotsKnownByItsIdAndSentAgainWhenForgotten) {
  const auto server = std::make_shared<FakeConnection>();
  const std::shared_ptr<Device> device = remote(server);
  RootedGraph graph{std::make_unique<Graph>(), {}};
  const UOp sum = binary(Op::kAdd, buffer(*graph.graph, 0, DType::kF32, 2), buffer(*graph.graph, 1, DType::kF32, 2));
  graph.roots = {sum, sum};
  const BufferHandle inputs[] = {*device->put({}, {DType::kF32, 2}), *device->put({}, {DType::kF32, 2})};

  const StatusOr<RunOutcome> first = device->run(graph, inputs, {}, {});
  ASSERT_TRUE(first.ok()) << message(first.status());
  EXPECT_EQ(first->outputs[0], first->outputs[1]) << "equal roots share a buffer";
  EXPECT_EQ(first->report.found_in, FoundIn::kCompiled);
  EXPECT_EQ(first->report.kernels_compiled, 3u);
  EXPECT_EQ(server->calls, (std::vector<std::string>{"compile", "execute p b1 b0"}));

  server->calls.clear();
  EXPECT_EQ(device->run(graph, inputs, {}, {})->report.kernels_compiled, 0u);
  EXPECT_EQ(server->calls, (std::vector<std::string>{"execute p b1 b0"})) << "a steady client sends no graph";

  server->calls.clear();
  server->forgotten = true;
  EXPECT_TRUE(device->run(graph, inputs, {}, {}).ok());
  EXPECT_EQ(server->calls, (std::vector<std::string>{"execute p b1 b0", "compile", "execute p b1 b0"}));

  server->calls.clear();
  const CompileOptions plain{.opt = 0};
  EXPECT_TRUE(device->run(graph, inputs, {}, {.compile = plain}).ok());
  EXPECT_EQ(server->calls.front(), "compile") << "other options are another plan";

  const StatusOr<RunOutcome> short_of_one = device->run(graph, std::span(inputs, 1), {}, {});
  EXPECT_THAT(message(short_of_one.status()), ::testing::HasSubstr("reads BUFFER slot 1, but 1 values are given"));
  EXPECT_EQ(server->released, (std::vector<std::string>{"out", "out", "out"})) << "the first outcome is still held";
}

}  // namespace
}  // namespace uop
