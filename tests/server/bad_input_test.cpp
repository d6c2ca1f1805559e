// What clumsy and hostile clients send. Every row is refused with its code, the place and a remedy, in a moment, and
// the server then answers a graph as before.
#include <gmock/gmock.h>

#include "core/ir/op.h"
#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

std::uint32_t number(const char* name) {
  return row(*op_of_name(name)).number;
}

/// Adds nodes by hand, since no decent encoder writes such graphs.
struct Builder {
  v1::Graph graph;
  std::uint32_t add(std::uint32_t op, std::vector<std::uint32_t> src, std::vector<std::int64_t> ints = {},
                    std::int64_t value = 0, v1::DType dtype = v1::DTYPE_UNSPECIFIED) {
    v1::Node& node = *graph.add_nodes();
    node.set_op(op);
    node.mutable_src()->Assign(src.begin(), src.end());
    node.mutable_ints()->Assign(ints.begin(), ints.end());
    node.set_value(value);
    node.set_dtype(dtype);
    return static_cast<std::uint32_t>(graph.nodes_size() - 1);
  }
  std::uint32_t buffer(std::int64_t elements, std::int64_t slot = 0, v1::DType dtype = v1::DTYPE_F32) {
    return add(number("BUFFER"), {}, {elements}, slot, dtype);
  }
  v1::Graph returning(std::uint32_t root) {
    graph.add_roots(root);
    return graph;
  }
};

struct BadGraph {
  const char* what;
  std::function<v1::Graph(Builder&)> make;
  std::vector<std::string> named;  // texts of the message
};

const std::vector<BadGraph> kBadGraphs = {
    {"no nodes", [](Builder& b) { return b.graph; }, {"root"}},
    {"no roots",
     [](Builder& b) {
       b.buffer(4);
       return b.graph;
     },
     {"root"}},
    {"root out of range",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(1);
     },
     {"root"}},
    {"unknown op",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(9999, {0}));
     },
     {"9999"}},
    {"op 0", [](Builder& b) { return b.returning(b.add(0, {})); }, {"0"}},
    {"too few sources",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(number("ADD"), {0}));
     },
     {"ADD"}},
    {"too many sources",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(number("NEG"), {0, 0}));
     },
     {"NEG"}},
    {"forward reference",
     [](Builder& b) {
       const std::uint32_t r = b.add(number("NEG"), {1});
       b.buffer(4);
       return b.returning(r);
     },
     {"NEG"}},
    {"self reference", [](Builder& b) { return b.returning(b.add(number("NEG"), {0})); }, {"NEG"}},
    {"source that is not there",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(number("NEG"), {4000000000u}));
     },
     {"NEG"}},
    {"shapes that don't fit",
     [](Builder& b) {
       b.buffer(4, 0);
       b.buffer(5, 1);
       return b.returning(b.add(number("ADD"), {0, 1}));
     },
     {"ADD", "4", "5"}},
    {"dtypes that don't fit",
     [](Builder& b) {
       b.buffer(4, 0);
       b.buffer(4, 1, v1::DTYPE_I32);
       return b.returning(b.add(number("ADD"), {0, 1}));
     },
     {"ADD", "f32", "i32"}},
    {"negative elements", [](Builder& b) { return b.returning(b.buffer(-1)); }, {"BUFFER", "-1"}},
    {"negative dimension in RESHAPE",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(number("RESHAPE"), {0}, {-1, 4}));
     },
     {"RESHAPE", "-1"}},
    {"negative dimension in EXPAND",
     [](Builder& b) {
       b.buffer(1);
       return b.returning(b.add(number("EXPAND"), {0}, {-5}));
     },
     {"EXPAND", "-5"}},
    {"overflowing size",
     [](Builder& b) {
       b.buffer(1);
       b.add(number("RESHAPE"), {0}, {1, 1, 1});
       return b.returning(b.add(number("EXPAND"), {1}, {1LL << 40, 1LL << 40, 1LL << 40}));
     },
     {"EXPAND"}},
    {"elements times bytes overflow", [](Builder& b) { return b.returning(b.buffer(INT64_MAX)); }, {"BUFFER"}},
    {"no dtype", [](Builder& b) { return b.returning(b.buffer(4, 0, v1::DTYPE_UNSPECIFIED)); }, {"BUFFER"}},
    {"unknown dtype", [](Builder& b) { return b.returning(b.buffer(4, 0, static_cast<v1::DType>(99))); }, {"99"}},
    {"negative slot", [](Builder& b) { return b.returning(b.buffer(4, -1)); }, {"BUFFER"}},
    {"axes that don't exist",
     [](Builder& b) {
       b.buffer(4);
       return b.returning(b.add(number("PERMUTE"), {0}, {3}));
     },
     {"PERMUTE"}},
    {"a maximum of nothing",
     [](Builder& b) {
       b.buffer(0);
       b.graph.add_nodes()->CopyFrom(b.graph.nodes(0));
       v1::Node& node = *b.graph.mutable_nodes(1);
       node.Clear();
       node.set_op(number("REDUCE"));
       node.add_src(0);
       node.set_value(1);
       node.set_reduce_op(number("MAX"));
       return b.returning(1);
     },
     {"MAX"}},
};

class BadInputTest : public ServerTest {
 protected:
  void SetUp() override { start(options()); }
};

TEST_F(BadInputTest, Graphs) {
  const TestClient c = client();
  for (const BadGraph& bad : kBadGraphs) {
    SCOPED_TRACE(bad.what);
    Builder builder;
    v1::CompileRequest compile;
    *compile.mutable_graph() = bad.make(builder);
    v1::CompileReply reply;
    const grpc::Status status = c.call(&Stub::Compile, compile, reply);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << status.error_message();
    for (const std::string& text : bad.named) EXPECT_THAT(status.error_message(), HasSubstr(text));

    v1::ExecuteRequest execute;
    *execute.mutable_graph() = compile.graph();
    v1::ExecuteReply ran;
    EXPECT_EQ(c.call(&Stub::Execute, execute, ran).error_message(), status.error_message());
    v1::ExplainRequest explain;
    *explain.mutable_graph() = compile.graph();
    v1::ExplainReply explained;
    EXPECT_EQ(c.call(&Stub::Explain, explain, explained).error_message(), status.error_message());
  }
  EXPECT_TRUE(c.can_still_add());
}

/// An Execute of kSum with two good inputs, to be spoilt.
v1::ExecuteRequest good() {
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of(kSum);
  request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4}));
  request.add_inputs()->set_inline_bytes(bytes_of({1, 2, 3, 4}));
  request.set_inline_outputs(true);
  return request;
}

struct BadExecute {
  const char* what;
  std::function<void(v1::ExecuteRequest&)> spoil;
  grpc::StatusCode code;
  std::vector<std::string> named;
};

const std::vector<BadExecute> kBadExecutes = {
    {"no program", [](auto& r) { r.clear_program(); }, grpc::INVALID_ARGUMENT, {"program"}},
    {"a plan id that is none", [](auto& r) { r.set_plan_id("xyz"); }, grpc::INVALID_ARGUMENT, {"plan_id", "64"}},
    {"unknown plan", [](auto& r) { r.set_plan_id(std::string(64, 'a')); }, grpc::NOT_FOUND, {"send the graph"}},
    {"options with a plan",
     [](auto& r) {
       r.set_plan_id(std::string(64, 'a'));
       (*r.mutable_options())["opt"] = "0";
     },
     grpc::INVALID_ARGUMENT,
     {"options"}},
    {"unknown option",
     [](auto& r) { (*r.mutable_options())["colour"] = "1"; },
     grpc::INVALID_ARGUMENT,
     {"colour", "fuse_reduce"}},
    {"bad option", [](auto& r) { (*r.mutable_options())["opt"] = "7"; }, grpc::INVALID_ARGUMENT, {"opt", "7", "0..1"}},
    {"too few inputs", [](auto& r) { r.mutable_inputs()->RemoveLast(); }, grpc::INVALID_ARGUMENT, {"inputs[1]", "f32"}},
    {"an empty input", [](auto& r) { r.mutable_inputs(1)->clear_value(); }, grpc::INVALID_ARGUMENT, {"inputs[1]"}},
    {"too few bytes",
     [](auto& r) { r.mutable_inputs(0)->set_inline_bytes("abc"); },
     grpc::INVALID_ARGUMENT,
     {"inputs[0]", "3 bytes", "16 bytes"}},
    {"unknown buffer",
     [](auto& r) { r.mutable_inputs(1)->set_buffer("nope"); },
     grpc::NOT_FOUND,
     {"inputs[1]", "nope", "put it again"}},
    {"verbosity out of range", [](auto& r) { r.set_verbosity(5); }, grpc::INVALID_ARGUMENT, {"verbosity", "0..4"}},
};

TEST_F(BadInputTest, Executes) {
  const TestClient c = client();
  for (const BadExecute& bad : kBadExecutes) {
    SCOPED_TRACE(bad.what);
    v1::ExecuteRequest request = good();
    bad.spoil(request);
    v1::ExecuteReply reply;
    const grpc::Status status = c.call(&Stub::Execute, request, reply);
    EXPECT_EQ(status.error_code(), bad.code);
    for (const std::string& text : bad.named) EXPECT_THAT(status.error_message(), HasSubstr(text));
  }
  EXPECT_TRUE(c.can_still_add());
}

TEST_F(BadInputTest, BufferOfAnotherDtypeOrSize) {
  TestClient c = client();
  std::string id;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_I32, 4), {std::string(16, '\0')}, &id).ok());
  v1::ExecuteRequest request = good();
  request.mutable_inputs(1)->set_buffer(id);
  v1::ExecuteReply reply;
  grpc::Status status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  for (const char* text : {"inputs[1]", "i32", "f32", "CAST"}) EXPECT_THAT(status.error_message(), HasSubstr(text));
  request.mutable_inputs(1)->set_buffer(c.put({1, 2, 3}));
  status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  for (const char* text : {"inputs[1]", "3 elements", "4 elements"})
    EXPECT_THAT(status.error_message(), HasSubstr(text));
}

TEST_F(BadInputTest, PlanTakesExactlyItsInputs) {
  const TestClient c = client();
  v1::CompileRequest compile;
  *compile.mutable_graph() = graph_of(kSum);
  v1::CompileReply compiled;
  ASSERT_TRUE(c.call(&Stub::Compile, compile, compiled).ok());
  v1::ExecuteRequest request = good();
  request.set_plan_id(compiled.plan_id());
  request.add_inputs()->set_inline_bytes("");
  v1::ExecuteReply reply;
  grpc::Status status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::AllOf(HasSubstr("takes 2"), HasSubstr("has 3")));
  request.mutable_inputs()->RemoveLast();
  request.add_variables(1);
  status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("variables"));
}

TEST_F(BadInputTest, WhatNeedsASessionSaysSo) {
  TestClient none(server->addresses().grpc);
  TestClient ended(server->addresses().grpc);
  ended.session = std::string(32, '0');
  for (const auto& [client, code] : {std::pair{&none, grpc::INVALID_ARGUMENT}, std::pair{&ended, grpc::NOT_FOUND}}) {
    v1::RenewReply renewed;
    v1::ListBuffersReply list;
    v1::FreeBuffersReply freed;
    v1::ExecuteReply reply;
    v1::ExecuteRequest to_buffers = good();
    to_buffers.set_inline_outputs(false);
    std::string bytes;
    for (const grpc::Status& status : {client->call(&Stub::Renew, v1::RenewRequest(), renewed),
                                       client->call(&Stub::ListBuffers, v1::ListBuffersRequest(), list),
                                       client->call(&Stub::FreeBuffers, v1::FreeBuffersRequest(), freed),
                                       client->call(&Stub::Execute, to_buffers, reply), client->get("x", &bytes),
                                       client->put(tensor(v1::DTYPE_F32, 1), {"1234"})}) {
      EXPECT_EQ(status.error_code(), code);
      EXPECT_THAT(status.error_message(), HasSubstr("Hello"));
    }
    EXPECT_TRUE(client->can_still_add()) << "inline needs no session";
  }
}

TEST_F(BadInputTest, InlineLimits) {
  const TestClient c = client();
  v1::ExecuteRequest request = good();
  request.mutable_inputs(0)->set_inline_bytes(std::string((16 << 20) + 1, 'x'));
  v1::ExecuteReply reply;
  grpc::Status status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("PutBuffer"));
  request = good();
  *request.mutable_graph() =
      graph_of("%a = BUFFER slot=0 size=1 : f32[1]\n%e = EXPAND(%a) shape=[5000000]\n%n = NEG(%e)\nreturn %n\n");
  request.mutable_inputs(0)->set_inline_bytes("1234");
  status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), testing::AllOf(HasSubstr("20000000 bytes"), HasSubstr("GetBuffer")));
}

TEST_F(BadInputTest, MessageOverTheLimit) {
  const TestClient c = client();
  v1::ExecuteRequest request = good();
  request.mutable_inputs(0)->set_inline_bytes(std::string((64 << 20) + 1, 'x'));
  v1::ExecuteReply reply;
  const grpc::Status status = c.call(&Stub::Execute, request, reply);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("67108864"));
  EXPECT_TRUE(c.can_still_add());
}

}  // namespace
}  // namespace uop
