// Every RPC as its client means it.
#include <gmock/gmock.h>

#include "core/ir/op.h"
#include "server_fixture.h"

namespace uop {
namespace {

class RpcTest : public ServerTest {
 protected:
  void SetUp() override { start(options()); }
};

TEST_F(RpcTest, HelloDescribesTheServer) {
  const TestClient c = client();
  EXPECT_EQ(c.hello.version(), 1u);
  EXPECT_EQ(c.hello.server_version(), UOPD_VERSION);
  EXPECT_EQ(c.hello.session().size(), 32u);
  EXPECT_EQ(c.hello.lease_seconds(), 300u);
  EXPECT_EQ(c.hello.dtypes_size(), 13);
  EXPECT_EQ(c.hello.limits().message_bytes(), 64u << 20);
  EXPECT_EQ(c.hello.limits().pool_bytes(), 256u << 20);
  EXPECT_EQ(c.hello.target().threads(), 2u);
  EXPECT_FALSE(c.hello.target().compiler().empty());
  int on_the_wire = 0;
  for (const OpRow& row : op_rows()) on_the_wire += row.number != 0;
  EXPECT_EQ(c.hello.ops_size(), on_the_wire);
  std::vector<std::string> options;
  for (const auto& o : c.hello.options()) options.push_back(o.name());
  EXPECT_THAT(options, testing::ElementsAre("opt", "fuse_reduce", "stage", "numerics"));
}

TEST_F(RpcTest, HelloNamesBothRangesOfVersions) {
  const TestClient c(server->addresses().grpc);
  v1::HelloRequest request;
  request.set_min_version(7);
  request.set_max_version(9);
  v1::HelloReply reply;
  const grpc::Status status = c.call(&Stub::Hello, request, reply);
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), testing::AllOf(testing::HasSubstr("7..9"), testing::HasSubstr("1..1")));
  request.set_min_version(0);
  EXPECT_TRUE(c.call(&Stub::Hello, request, reply).ok()) << "0..9 holds 1";
}

TEST_F(RpcTest, BuffersGoRoundTrip) {
  TestClient c = client();
  const std::string id = c.put({1, 2, 3});
  std::string bytes;
  EXPECT_TRUE(c.get(id, &bytes).ok());
  EXPECT_EQ(floats_of(bytes), (std::vector<float>{1, 2, 3}));
  bytes.clear();
  EXPECT_TRUE(c.get(id, &bytes, 4, 4).ok());
  EXPECT_EQ(floats_of(bytes), (std::vector<float>{2}));

  v1::ListBuffersReply list;
  ASSERT_TRUE(c.call(&Stub::ListBuffers, v1::ListBuffersRequest(), list).ok());
  ASSERT_EQ(list.buffers_size(), 1);
  EXPECT_EQ(list.buffers(0).buffer(), id);
  EXPECT_EQ(list.buffers(0).bytes(), 12u);
  EXPECT_EQ(list.buffers(0).tensor().dtype(), v1::DTYPE_F32);

  v1::FreeBuffersRequest free;
  free.add_buffers(id);
  free.add_buffers("never was");
  v1::FreeBuffersReply freed;
  ASSERT_TRUE(c.call(&Stub::FreeBuffers, free, freed).ok());
  EXPECT_EQ(freed.freed(), 1u);
  EXPECT_EQ(freed.unknown(), 1u);
  ASSERT_TRUE(c.call(&Stub::FreeBuffers, free, freed).ok());
  EXPECT_EQ(freed.freed(), 0u);
  EXPECT_EQ(c.get(id, &bytes).error_code(), grpc::NOT_FOUND);
}

TEST_F(RpcTest, CompileThenExecuteByPlan) {
  TestClient c = client();
  v1::CompileRequest request;
  // Slots out of order: the reply says which input of the plan is which.
  *request.mutable_graph() = graph_of(
      "%a = BUFFER slot=5 size=4 : f32[4]\n%b = BUFFER slot=2 size=4 : f32[4]\n%c = SUB(%a, %b)\nreturn %c, %a, %c\n");
  v1::CompileReply compiled;
  ASSERT_TRUE(c.call(&Stub::Compile, request, compiled).ok());
  EXPECT_EQ(compiled.plan_id().size(), 64u);
  EXPECT_EQ(compiled.origin(), v1::COMPILED);
  EXPECT_EQ(compiled.kernels_compiled(), 1u);
  EXPECT_EQ(compiled.plan().kernels_size(), 1);
  EXPECT_EQ(compiled.root_outputs_size(), 3);
  EXPECT_EQ(compiled.root_outputs(0), compiled.root_outputs(2));

  v1::CompileReply again;
  ASSERT_TRUE(c.call(&Stub::Compile, request, again).ok());
  EXPECT_EQ(again.origin(), v1::MEMORY);
  EXPECT_EQ(again.kernels_compiled(), 0u);
  EXPECT_EQ(again.plan_id(), compiled.plan_id());

  v1::ExecuteRequest execute;
  execute.set_plan_id(compiled.plan_id());
  for (const std::int64_t slot : compiled.input_slots())
    execute.add_inputs()->set_buffer(slot == 5 ? c.put({5, 6, 7, 8}) : c.put({1, 1, 1, 1}));
  v1::ExecuteReply reply;
  const grpc::Status status = c.call(&Stub::Execute, execute, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  std::string bytes;
  EXPECT_TRUE(c.get(reply.outputs(static_cast<int>(compiled.root_outputs(0))).buffer(), &bytes).ok());
  EXPECT_EQ(floats_of(bytes), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_FALSE(reply.has_report()) << "nobody asked";
}

TEST_F(RpcTest, ExecuteByGraphGivesOneOutputPerRoot) {
  TestClient c = client();
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of(
      "%a = BUFFER slot=0 size=2 : f32[2]\n%b = BUFFER slot=2 size=2 : f32[2]\n%c = ADD(%a, %b)\nreturn %c, %a, %c\n");
  request.add_inputs()->set_inline_bytes(bytes_of({1, 2}));
  request.add_inputs();  // slot 1 is not in the graph
  request.add_inputs()->set_buffer(c.put({10, 20}));
  v1::ExecuteReply reply;
  const grpc::Status status = c.call(&Stub::Execute, request, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(reply.outputs_size(), 3);
  const std::vector<std::vector<float>> expected = {{11, 22}, {1, 2}, {11, 22}};
  for (int i = 0; i < 3; ++i) {
    std::string bytes;
    EXPECT_TRUE(c.get(reply.outputs(i).buffer(), &bytes).ok());
    EXPECT_EQ(floats_of(bytes), expected[static_cast<std::size_t>(i)]);
  }
}

TEST_F(RpcTest, VariablesAreBoundPerRun) {
  const TestClient c = client();
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of(
      "%a = BUFFER slot=0 size=2 : i32[2]\n%v = VARIABLE slot=0 min=0 max=9 : i32[]\n%r = RESHAPE(%v) shape=[1]\n"
      "%e = EXPAND(%r) shape=[2]\n%c = MUL(%a, %e)\nreturn %c\n");
  const std::int32_t values[2] = {3, 4};
  request.add_inputs()->set_inline_bytes(std::string(reinterpret_cast<const char*>(values), sizeof values));
  request.set_inline_outputs(true);
  v1::ExecuteReply reply;
  for (const std::int64_t v : {2, 5}) {
    request.clear_variables();
    request.add_variables(v);
    const grpc::Status status = c.call(&Stub::Execute, request, reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    const auto* out = reinterpret_cast<const std::int32_t*>(reply.outputs(0).inline_bytes().data());
    EXPECT_EQ(out[0], 3 * v);
    EXPECT_EQ(out[1], 4 * v);
  }
  request.clear_variables();
  request.add_variables(10);
  EXPECT_EQ(c.call(&Stub::Execute, request, reply).error_code(), grpc::INVALID_ARGUMENT) << "above its maximum";
}

TEST_F(RpcTest, ReportGrowsWithVerbosity) {
  const TestClient c(server->addresses().grpc);
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of(doubled(8));
  request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
  request.set_inline_outputs(true);
  v1::ExecuteReply reply;
  request.set_verbosity(4);
  ASSERT_TRUE(c.call(&Stub::Execute, request, reply).ok());
  EXPECT_EQ(reply.report().origin(), v1::COMPILED);
  EXPECT_EQ(reply.report().kernels_compiled(), 1u);
  EXPECT_GT(reply.report().schedule_ns(), 0u);
  EXPECT_GT(reply.report().run_ns(), 0u);
  ASSERT_EQ(reply.report().kernel_runs_size(), 1);
  EXPECT_EQ(reply.report().kernel_runs(0).flops(), 8u);
  EXPECT_GT(reply.report().kernel_runs(0).again_ns(), 0u);
  EXPECT_EQ(reply.report().sources_size(), 1);
  ASSERT_TRUE(c.call(&Stub::Execute, request, reply).ok());
  EXPECT_EQ(reply.report().origin(), v1::MEMORY);
  EXPECT_EQ(reply.report().sources_size(), 0) << "compiled nothing";
  request.set_verbosity(2);
  ASSERT_TRUE(c.call(&Stub::Execute, request, reply).ok());
  EXPECT_EQ(reply.report().kernel_runs(0).again_ns(), 0u);
  request.set_verbosity(1);
  ASSERT_TRUE(c.call(&Stub::Execute, request, reply).ok());
  EXPECT_EQ(reply.report().kernel_runs_size(), 0);
  EXPECT_EQ(reply.report().kernels(), 1u);
}

TEST_F(RpcTest, ExplainShowsEveryStage) {
  const TestClient c = client();
  v1::ExplainRequest request;
  *request.mutable_graph() = graph_of(kSum);
  v1::ExplainReply reply;
  grpc::Status status = c.call(&Stub::Explain, request, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(reply.stages_size(), 2);
  for (const auto& stage : reply.stages()) {
    EXPECT_FALSE(stage.name().empty());
    EXPECT_FALSE(stage.text().empty()) << stage.name();
  }
  request.set_plan_id(reply.compilation().plan_id());
  v1::ExplainReply by_id;
  status = c.call(&Stub::Explain, request, by_id);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(by_id.compilation().plan_id(), reply.compilation().plan_id());
  EXPECT_EQ(by_id.compilation().origin(), v1::MEMORY);
}

TEST_F(RpcTest, StatusCounts) {
  TestClient c = client();
  EXPECT_TRUE(c.can_still_add());
  EXPECT_TRUE(c.can_still_add());
  const std::string id = c.put({1});
  const v1::StatusReply s = status();
  EXPECT_EQ(s.server_version(), UOPD_VERSION);
  EXPECT_EQ(s.sessions(), 1u);
  EXPECT_EQ(s.buffers(), 1u);
  EXPECT_EQ(s.plan_misses(), 1u);
  EXPECT_EQ(s.plan_memory_hits(), 1u);
  EXPECT_EQ(s.kernel_compiles(), 1u);
  EXPECT_EQ(s.runs(), 2u);
  EXPECT_GE(s.pool_in_use_bytes(), 4u);
  EXPECT_FALSE(s.draining());
  EXPECT_EQ(s.cache_dir(), options().engine.cache_dir);
  EXPECT_EQ(s.cache_problem(), "");
  EXPECT_EQ(s.compiler_problem(), "");
}

TEST_F(RpcTest, ZeroElementsAndBools) {
  TestClient c = client();
  std::string id, bytes;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_F64, 0), {}, &id).ok());
  EXPECT_TRUE(c.get(id, &bytes).ok());
  EXPECT_EQ(bytes, "");
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_BOOL, 3), {std::string("\x00\x02\xff", 3)}, &id).ok());
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of("%a = BUFFER slot=0 size=3 : bool[3]\n%c = NOT(%a)\nreturn %c\n");
  request.add_inputs()->set_buffer(id);
  request.set_inline_outputs(true);
  v1::ExecuteReply reply;
  const grpc::Status status = c.call(&Stub::Execute, request, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.outputs(0).inline_bytes(), std::string("\x01\x00\x00", 3));
}

TEST_F(RpcTest, RestartedServerCompilesNothing) {
  EXPECT_TRUE(client().can_still_add());
  server.reset();
  start(options());
  EXPECT_TRUE(client().can_still_add());
  EXPECT_EQ(status().kernel_compiles(), 0u);
  EXPECT_EQ(status().plan_store_hits(), 1u);
}

TEST_F(RpcTest, WithoutACompilerCachedGraphsStillRun) {
  EXPECT_TRUE(client().can_still_add());
  server.reset();
  ServerOptions o = options();
  o.engine.compiler = "none";
  // The identity of the compiler is part of the key of its kernels, so what it made is found by its last identity.
  start(o);
  const v1::StatusReply s = status();
  EXPECT_EQ(s.target().compiler(), "");
  EXPECT_NE(s.compiler_problem(), "");
  EXPECT_TRUE(client().can_still_add());
  v1::CompileRequest request;
  *request.mutable_graph() = graph_of(doubled(77));
  v1::CompileReply reply;
  const grpc::Status status = client().call(&Stub::Compile, request, reply);
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("compiler"));
}

}  // namespace
}  // namespace uop
