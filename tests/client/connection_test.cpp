// A connection whose server stands still, as if the cable had been pulled: the kernel takes what is sent, nobody
// answers.
#include "client/cpp/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "core/ir/build.h"
#include "core/wire/graph_codec.h"
#include "process.h"

namespace uop {
namespace {

namespace proto = uopd::v1;

proto::TensorSpec bytes_spec(std::int64_t count) {
  proto::TensorSpec spec;
  spec.set_dtype(proto::DTYPE_U8);
  spec.set_elements(count);
  return spec;
}

class VanishedServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened =
        Connection::open(server_.address(), {std::chrono::milliseconds(1000), std::chrono::milliseconds(1000)});
    ASSERT_TRUE(opened.ok()) << opened.status();
    connection_ = *std::move(opened);
  }

  testing::ServerProcess server_;
  std::shared_ptr<Connection> connection_;
};

TEST_F(VanishedServerTest, EveryCallThatWaitsBecomesUnavailable) {
  const std::vector<std::byte> bytes(8 << 20);
  const auto size = static_cast<std::int64_t>(bytes.size());
  const StatusOr<std::string> buffer = connection_->put(bytes, bytes_spec(size));
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  Graph graph;
  proto::ExecuteRequest run;
  const UOp root[] = {unary(Op::kNeg, uop::buffer(graph, 0, DType::kF32, 4))};
  *run.mutable_graph() = encode_graph(root);
  run.add_inputs()->set_inline_bytes(std::string(16, '\0'));
  run.set_inline_outputs(true);

  server_.signal(SIGSTOP);
  const std::vector<std::function<Status()>> calls = {
      [&] { return connection_->put(bytes, bytes_spec(size)).status(); },
      [&] { return connection_->get(*buffer, bytes.size()).status(); },
      [&] { return connection_->execute(run, std::nullopt).status(); },
  };
  std::vector<std::future<Status>> ends;
  for (const auto& call : calls) ends.push_back(std::async(std::launch::async, call));
  for (std::future<Status>& end : ends) {
    const Status status = end.get();
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status;
    EXPECT_THAT(message(status), ::testing::HasSubstr(server_.address()));
  }
  server_.signal(SIGCONT);
  EXPECT_EQ(server_.stop(), 0);
}

}  // namespace
}  // namespace uop
