// One program on every device: embedded, TCP and unix socket, with one compute thread and two.
#include "client/cpp/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/algorithms.h"
#include "client/cpp/embedded.h"
#include "client/cpp/operators.h"
#include "client/cpp/remote.h"
#include "tests/client/process.h"

namespace uop {
namespace {

using testing::ServerProcess;

Tensor noise(const ProgramPtr& program, const Shape& shape, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return Tensor::from(program, values, shape);
}

/// Sums whose order matters, every kind of kernel, several roots.
std::vector<Tensor> mixed_program(const ProgramPtr& program) {
  const Tensor x = noise(program, {67, 129}, 1);
  const Tensor w = noise(program, {129, 65}, 2);
  const Tensor y = matmul(layernorm(x), w);
  return {softmax(y), y.sum(), argmax(y), (sin(x) * 3).cast(DType::kF16).sum({0}), log(exp(x.transpose()))};
}

std::vector<std::vector<std::byte>> results_on(const std::shared_ptr<Device>& device) {
  const auto program = std::make_shared<Program>(device);
  const std::vector<Tensor> tensors = mixed_program(program);
  realize(tensors);
  std::vector<std::vector<std::byte>> results;
  for (const Tensor& tensor : tensors) results.push_back(tensor.bytes());
  return results;
}

std::shared_ptr<Device> embedded_with(const TemporaryDirectory& dir, std::int64_t threads) {
  EngineOptions options;
  options.cache_dir = dir / "cache";
  options.threads = threads;
  return value_or_throw(embedded(options));
}

std::shared_ptr<Device> connect(const std::string& address) {
  return value_or_throw(remote(address));
}

double status_number(Device& device, const std::string& name) {
  for (const StatusRow& row : value_or_throw(device.status()))
    if (row.name == name) return row.number;
  ADD_FAILURE() << "no status row " << name;
  return -1;
}

TEST(DeviceTest, ResultsAreBitIdenticalEverywhere) {
  const TemporaryDirectory dir;
  const auto expected = results_on(embedded_with(dir, 1));
  EXPECT_EQ(results_on(embedded_with(dir, 2)), expected) << "embedded, two threads";
  for (const std::string threads : {"1", "2"}) {
    ServerProcess server({"--threads", threads});
    EXPECT_EQ(results_on(connect(server.address())), expected) << "TCP, threads " << threads;
    EXPECT_EQ(results_on(connect(server.unix_address())), expected) << "unix socket, threads " << threads;
    EXPECT_EQ(server.stop(), 0);
  }
}

TEST(DeviceTest, ASteadyClientRunsByPlanIdAndASecondClientCompilesNothing) {
  ServerProcess server;
  const auto program = std::make_shared<Program>(connect(server.address()));
  program->options().verbosity = 4;
  const Tensor x = noise(program, {4, 8}, 1);
  softmax(x).realize();
  EXPECT_EQ(program->report().found_in, FoundIn::kCompiled);
  EXPECT_GT(program->report().kernels_compiled, 0u);
  EXPECT_FALSE(program->report().sources.empty()) << "verbosity 4 shows the C of what was compiled";
  softmax(x).realize();
  EXPECT_EQ(program->report().found_in, FoundIn::kMemory);
  EXPECT_EQ(program->report().kernels_compiled, 0u);
  EXPECT_EQ(program->report().kernel_runs.size(), program->report().kernels);

  const auto second = std::make_shared<Program>(connect(server.unix_address()));
  softmax(noise(second, {4, 8}, 2)).realize();
  EXPECT_EQ(second->report().kernels_compiled, 0u);
  EXPECT_EQ(second->report().found_in, FoundIn::kMemory);
}

TEST(DeviceTest, BuffersAreFreedAtTheServerWithTheirTensors) {
  ServerProcess server;
  const std::shared_ptr<Device> device = connect(server.address());
  {
    const auto program = std::make_shared<Program>(device);
    std::vector<Tensor> tensors;
    for (int i = 0; i < 20; ++i) tensors.push_back(noise(program, {100}, static_cast<std::uint32_t>(i)));
    EXPECT_EQ(status_number(*device, "buffers"), 20);
  }
  for (int tries = 0; tries < 100 && status_number(*device, "buffers") > 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(status_number(*device, "buffers"), 0);
}

TEST(DeviceTest, TheLeaseIsRenewedWhileTheClientIsIdle) {
  ServerProcess server({"--lease-seconds", "1"});
  const auto program = std::make_shared<Program>(connect(server.address()));
  const Tensor x = Tensor::from<float>(program, {1, 2}, {2});
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_THAT((x + 1).to_vector<float>(), ::testing::ElementsAre(2, 3));
}

TEST(DeviceTest, LargeBuffersTravelInChunks) {
  ServerProcess server;
  const auto program = std::make_shared<Program>(connect(server.address()));
  std::vector<std::int32_t> values(3'000'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * 7);
  const Tensor x = Tensor::from(program, values, {3'000'001});
  EXPECT_EQ(x.to_vector<std::int32_t>(), values);
}

TEST(DeviceTest, ErrorsNameTheRemedy) {
  const TemporaryDirectory dir;
  const StatusOr<std::shared_ptr<Device>> nobody = remote("unix:" + (dir / "nobody"));
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(nobody.status()),
              ::testing::AllOf(::testing::HasSubstr("unix:" + (dir / "nobody")), ::testing::HasSubstr("uop serve")));

  const std::shared_ptr<Device> one = embedded_with(dir, 1);
  const StatusOr<BufferHandle> short_put = one->put({}, {DType::kF32, 1});
  EXPECT_THAT(message(short_put.status()), ::testing::HasSubstr("takes 4 bytes; got 0"));

  ServerProcess server;
  const std::shared_ptr<Device> other = connect(server.address());
  const BufferHandle foreign = value_or_throw(one->put({}, {DType::kF32, 0}));
  EXPECT_THAT(message(other->get(foreign).status()), ::testing::HasSubstr("a buffer of another device"));

  const auto program = std::make_shared<Program>(other);
  const Tensor x = Tensor::from<float>(program, {1}, {1});
  EXPECT_EQ(server.stop(), 0);
  try {
    (x + 1).realize();
    ADD_FAILURE() << "the server is gone";
  } catch (const ClientError& problem) {
    EXPECT_EQ(problem.code(), StatusCode::kUnavailable);
    EXPECT_THAT(problem.what(), ::testing::HasSubstr(server.address()));
  }
}

}  // namespace
}  // namespace uop
