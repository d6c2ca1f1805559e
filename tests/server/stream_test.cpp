// Uploads and downloads: limits, broken streams, back-pressure, idle ones; and sessions that end.
#include <gmock/gmock.h>

#include "server_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

class StreamTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerOptions o = options();
    change(o);
    start(o);
  }
  virtual void change(ServerOptions&) {}

  /// An upload that has sent a header of 8 bytes and half of them.
  struct Half {
    std::unique_ptr<grpc::ClientContext> context;
    v1::PutBufferReply reply;
    std::unique_ptr<grpc::ClientWriter<v1::PutBufferRequest>> writer;
  };
  static std::unique_ptr<Half> half_of_an_upload(const TestClient& c, std::int64_t bytes = 8) {
    auto half = std::make_unique<Half>();
    half->context = c.context();
    half->writer = c.stub->PutBuffer(half->context.get(), &half->reply);
    v1::PutBufferRequest request;
    *request.mutable_header()->mutable_tensor() = tensor(v1::DTYPE_U8, bytes);
    EXPECT_TRUE(half->writer->Write(request));
    request.set_chunk("1234");
    EXPECT_TRUE(half->writer->Write(request));
    return half;
  }
};

TEST_F(StreamTest, UploadTable) {
  TestClient c = client();
  const struct {
    const char* what;
    v1::TensorSpec spec;
    std::vector<std::string> chunks;
    grpc::StatusCode code;
    std::string named;
  } rows[] = {
      {"in one chunk", tensor(v1::DTYPE_U8, 4), {"1234"}, grpc::OK, ""},
      {"empty chunks between", tensor(v1::DTYPE_U8, 4), {"", "12", "", "", "34", ""}, grpc::OK, ""},
      {"one byte too many", tensor(v1::DTYPE_U8, 4), {"12345"}, grpc::INVALID_ARGUMENT, "4"},
      {"one byte too many in a chunk of its own",
       tensor(v1::DTYPE_U8, 4),
       {"1234", "5"},
       grpc::INVALID_ARGUMENT,
       "u8, 4 elements"},
      {"one byte missing", tensor(v1::DTYPE_F32, 1), {"123"}, grpc::INVALID_ARGUMENT, "3 of the 4 bytes"},
      {"nothing sent", tensor(v1::DTYPE_F32, 1), {}, grpc::INVALID_ARGUMENT, "0 of the 4 bytes"},
      {"negative elements", tensor(v1::DTYPE_F32, -1), {}, grpc::INVALID_ARGUMENT, "-1"},
      {"overflowing elements", tensor(v1::DTYPE_F64, INT64_MAX), {}, grpc::INVALID_ARGUMENT, "elements"},
      {"no dtype", tensor(v1::DTYPE_UNSPECIFIED, 1), {}, grpc::INVALID_ARGUMENT, "dtype"},
      {"more than the pool has", tensor(v1::DTYPE_U8, 2'400'000'000), {}, grpc::RESOURCE_EXHAUSTED, "2400000000"},
      {"more than any machine has", tensor(v1::DTYPE_F64, 1LL << 55), {}, grpc::RESOURCE_EXHAUSTED, ""},
      {"a chunk over the limit",
       tensor(v1::DTYPE_U8, 4 << 20),
       {std::string(2 << 20, 'x')},
       grpc::RESOURCE_EXHAUSTED,
       "1048576"},
  };
  std::size_t made = 0;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    std::string id;
    const grpc::Status status = c.put(row.spec, row.chunks, &id);
    EXPECT_EQ(status.error_code(), row.code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(row.named));
    made += status.ok();
    std::string bytes;
    if (status.ok()) {
      EXPECT_TRUE(c.get(id, &bytes).ok());
      EXPECT_EQ(bytes, "1234");
    }
  }
  EXPECT_EQ(status().buffers(), made) << "nothing is left of those that failed";
  EXPECT_LT(status().pool_in_use_bytes(), 1u << 20);
}

TEST_F(StreamTest, HeaderComesFirstAndOnce) {
  const TestClient c = client();
  v1::PutBufferRequest header, chunk;
  *header.mutable_header()->mutable_tensor() = tensor(v1::DTYPE_U8, 1);
  chunk.set_chunk("x");
  for (const auto& parts : std::vector<std::vector<v1::PutBufferRequest>>{
           {}, {chunk}, {header, header}, {header, v1::PutBufferRequest()}}) {
    const auto context = c.context();
    v1::PutBufferReply reply;
    const auto writer = c.stub->PutBuffer(context.get(), &reply);
    for (const auto& part : parts) writer->Write(part);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("header"));
  }
}

TEST_F(StreamTest, ManyTinyChunks) {
  TestClient c = client();
  const std::vector<std::string> ones(20'000, "x");
  std::string id, bytes;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_U8, 20'000), ones, &id).ok());
  ASSERT_TRUE(c.get(id, &bytes).ok());
  EXPECT_EQ(bytes, std::string(20'000, 'x'));
}

TEST_F(StreamTest, BrokenUploadLeavesNothing) {
  TestClient c = client();
  for (int i = 0; i < 20; ++i) {
    const auto half = half_of_an_upload(c, 1 << 20);
    half->context->TryCancel();
    EXPECT_EQ(half->writer->Finish().error_code(), grpc::CANCELLED);
  }
  {
    TestClient vanishing(server->addresses().grpc);  // a connection that goes away in the middle
    vanishing.session = c.session;
    const auto half = half_of_an_upload(vanishing, 1 << 20);
    half->context->TryCancel();
  }
  EXPECT_TRUE(wait_until([&] { return status().pool_in_use_bytes() == 0; }));
  EXPECT_EQ(status().buffers(), 0u);
}

TEST_F(StreamTest, DownloadTable) {
  TestClient c = client();
  std::string id;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_U8, 10), {"0123456789"}, &id).ok());
  const struct {
    std::uint64_t offset, length;
    grpc::StatusCode code;
    std::string bytes;
  } rows[] = {
      {0, 0, grpc::OK, "0123456789"},
      {3, 0, grpc::OK, "3456789"},
      {3, 2, grpc::OK, "34"},
      {10, 0, grpc::OK, ""},
      {9, 1, grpc::OK, "9"},
      {11, 0, grpc::OUT_OF_RANGE, ""},
      {9, 2, grpc::OUT_OF_RANGE, ""},
      {UINT64_MAX, 2, grpc::OUT_OF_RANGE, ""},
      {2, UINT64_MAX, grpc::OUT_OF_RANGE, ""},
  };
  for (const auto& row : rows) {
    std::string bytes;
    EXPECT_EQ(c.get(id, &bytes, row.offset, row.length).error_code(), row.code) << row.offset << " " << row.length;
    EXPECT_EQ(bytes, row.bytes);
  }
  std::string bytes;
  EXPECT_EQ(c.get("unknown", &bytes).error_code(), grpc::NOT_FOUND);
}

TEST_F(StreamTest, LargeBufferComesInChunks) {
  TestClient c = client();
  std::vector<std::string> chunks;
  for (int i = 0; i < 5; ++i) chunks.push_back(std::string(1 << 20, static_cast<char>('a' + i)));
  chunks.push_back("tail");
  std::string id;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_U8, (5 << 20) + 4), chunks, &id).ok());
  v1::GetBufferRequest request;
  request.set_buffer(id);
  const auto context = c.context();
  const auto reader = c.stub->GetBuffer(context.get(), request);
  v1::GetBufferReply part;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    ASSERT_TRUE(reader->Read(&part));
    EXPECT_EQ(part.has_tensor(), i == 0);
    EXPECT_TRUE(part.chunk() == chunks[i]) << i;
  }
  EXPECT_FALSE(reader->Read(&part));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(StreamTest, FreedWhileItIsRead) {
  TestClient c = client();
  const std::string content(8 << 20, 'z');
  std::string id;
  ASSERT_TRUE(c.put(tensor(v1::DTYPE_U8, 8 << 20), std::vector<std::string>(8, std::string(1 << 20, 'z')), &id).ok());
  v1::GetBufferRequest request;
  request.set_buffer(id);
  const auto context = c.context();
  const auto reader = c.stub->GetBuffer(context.get(), request);
  v1::GetBufferReply part;
  ASSERT_TRUE(reader->Read(&part));
  std::string bytes = part.chunk();
  v1::FreeBuffersRequest free;
  free.add_buffers(id);
  v1::FreeBuffersReply freed;
  ASSERT_TRUE(c.call(&Stub::FreeBuffers, free, freed).ok());
  EXPECT_EQ(freed.freed(), 1u);
  while (reader->Read(&part)) bytes += part.chunk();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(bytes == content);
  EXPECT_TRUE(wait_until([&] { return status().pool_in_use_bytes() == 0; }));
}

TEST_F(StreamTest, SessionsDoNotSeeEachOther) {
  TestClient a = client();
  TestClient b = client();
  const std::string id = a.put({1, 2, 3, 4});
  std::string bytes;
  EXPECT_EQ(b.get(id, &bytes).error_code(), grpc::NOT_FOUND);
  v1::FreeBuffersRequest free;
  free.add_buffers(id);
  v1::FreeBuffersReply freed;
  ASSERT_TRUE(b.call(&Stub::FreeBuffers, free, freed).ok());
  EXPECT_EQ(freed.unknown(), 1u);
  v1::ListBuffersReply list;
  ASSERT_TRUE(b.call(&Stub::ListBuffers, v1::ListBuffersRequest(), list).ok());
  EXPECT_EQ(list.buffers_size(), 0);
  v1::ExecuteRequest request;
  *request.mutable_graph() = graph_of(doubled(4));
  request.add_inputs()->set_buffer(id);
  request.set_inline_outputs(true);
  v1::ExecuteReply reply;
  EXPECT_EQ(b.call(&Stub::Execute, request, reply).error_code(), grpc::NOT_FOUND);
  EXPECT_TRUE(a.call(&Stub::Execute, request, reply).ok());
}

class ShortLeaseTest : public StreamTest {
 protected:
  void change(ServerOptions& o) override {
    o.metrics = measured().metrics;
    o.lease_seconds = 1;
    o.stream_idle_seconds = 1;
  }
};

TEST_F(ShortLeaseTest, IdleSessionEndsAndItsMemoryIsFree) {
  TestClient c = client();
  c.put({1, 2, 3});
  EXPECT_TRUE(wait_until([&] { return status().sessions() == 0; }));
  EXPECT_EQ(status().buffers(), 0u);
  EXPECT_EQ(status().pool_in_use_bytes(), 0u);
  v1::RenewReply reply;
  const grpc::Status status = c.call(&Stub::Renew, v1::RenewRequest(), reply);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("lease of 1 s"));
}

TEST_F(ShortLeaseTest, IdleStreamsAreCancelled) {
  TestClient c = client();
  const auto half = half_of_an_upload(c);
  EXPECT_EQ(half->writer->Finish().error_code(), grpc::CANCELLED);

  TestClient d = client();
  std::string id;
  ASSERT_TRUE(d.put(tensor(v1::DTYPE_U8, 64 << 20), std::vector<std::string>(64, std::string(1 << 20, 'z')), &id).ok());
  v1::GetBufferRequest request;
  request.set_buffer(id);
  const auto context = d.context();
  const auto reader = d.stub->GetBuffer(context.get(), request);
  EXPECT_TRUE(wait_until([&] { return metric(R"(uopd_rpcs_total{code="CANCELLED",method="GetBuffer"})") == 1; }));
  v1::GetBufferReply part;
  while (reader->Read(&part)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::CANCELLED);
}

}  // namespace
}  // namespace uop
