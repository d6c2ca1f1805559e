// The golden plans, from tensors: the client builds graphs exactly as the compiler knows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/algorithms.h"
#include "client/cpp/embedded.h"
#include "client/cpp/operators.h"
#include "tests/client/process.h"

namespace uop {
namespace {

struct Row {
  std::string what;
  std::function<std::vector<Tensor>(const ProgramPtr&)> build;
  std::vector<std::string> kernels;  // "name", or "name refs flops"
  bool fuse_reduce = false;
  bool stage = true;
};

Tensor input(const ProgramPtr& program, const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return Tensor::from(program, std::vector<float>(count, 1), shape);
}

Tensor layernorm_matmul(const ProgramPtr& p) {
  return matmul(layernorm(input(p, {128, 256})), input(p, {256, 256}));
}

Tensor matmul_chain(const ProgramPtr& p) {
  return matmul(matmul(input(p, {16, 16}), input(p, {16, 16})), input(p, {16, 16}));
}

std::vector<Tensor> training_step(const ProgramPtr& p) {
  const Tensor w = input(p, {64, 10});
  const Tensor loss = square(relu(matmul(input(p, {32, 64}), w))).mean();
  return {loss, grad(loss, {w}).front()};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"relu(a*2+1)*3",
       [](auto& p) {
         return std::vector{relu(input(p, {2, 4}) * 2 + 1) * 3};
       },
       {"e_2_4 in0,out0 40"}},
      {"softmax",
       [](auto& p) {
         return std::vector{softmax(input(p, {4, 8}))};
       },
       {"r_4 in0,tmp0 32", "r_4 in0,tmp0,tmp1 132", "e_4_8 in0,tmp0,tmp1,out0 136"}},
      {"softmax, fused",
       [](auto& p) {
         return std::vector{softmax(input(p, {4, 8}))};
       },
       {"r_4_8"},
       true},
      {"(A@B)@C", [](auto& p) { return std::vector{matmul_chain(p)}; }, {"r_16_16", "r_16_16"}},
      {"(A@B)@C, fused", [](auto& p) { return std::vector{matmul_chain(p)}; }, {"r_16_16"}, true},
      {"a+b",
       [](auto& p) {
         return std::vector{input(p, {4, 8}) + input(p, {4, 8})};
       },
       {"e_4_8"}},
      {"(a+b).sum()",
       [](auto& p) {
         return std::vector{(input(p, {4, 8}) + input(p, {4, 8})).sum()};
       },
       {"r_1"}},
      {"var",
       [](auto& p) {
         return std::vector{input(p, {4, 8}).var({-1})};
       },
       {"r_4", "r_4", "e_4"}},
      {"(a@b).relu()@c",
       [](auto& p) {
         return std::vector{matmul(relu(matmul(input(p, {64, 64}), input(p, {64, 64}))), input(p, {64, 64}))};
       },
       {"r_64_64", "e_64_64", "r_64_64"}},
      {"layernorm, matmul",
       [](auto& p) { return std::vector{layernorm_matmul(p)}; },
       {"r_128", "r_128", "e_128_256", "r_128_256"}},
      {"layernorm, matmul, unstaged",
       [](auto& p) { return std::vector{layernorm_matmul(p)}; },
       {"r_128", "r_128", "r_128_256"},
       false,
       false},
      {"contiguous",
       [](auto& p) {
         return std::vector{(exp(input(p, {256, 256})) * 2).contiguous().sum({1})};
       },
       {"e_256_256", "r_256"}},
      {"not contiguous",
       [](auto& p) {
         return std::vector{(exp(input(p, {256, 256})) * 2).sum({1})};
       },
       {"r_256"}},
      {"two row sums",
       [](auto& p) {
         return std::vector{input(p, {16, 16}).sum({1}), input(p, {16, 16}).sum({1})};
       },
       {"r_16 in0,out0 256", "r_16 in1,out1 256"}},
      {"training step", training_step, {"r_32_10", "r_1", "e_1", "r_10_64", "e_64_10"}},
      {"t*0",
       [](auto& p) {
         return std::vector{Tensor::from<std::int32_t>(p, {1, 2, 3}, {3}) * 0};
       },
       {"e_3 out0 3"}},
  };
  return all;
}

TEST(GoldenPlanTest, TensorsGiveTheGoldenKernels) {
  const TemporaryDirectory dir;
  EngineOptions options;
  options.cache_dir = dir / "cache";
  const std::shared_ptr<Device> device = value_or_throw(embedded(options));
  for (const Row& row : rows()) {
    const auto program = std::make_shared<Program>(device);
    program->options().compile = {.opt = 0, .fuse_reduce = row.fuse_reduce, .stage = row.stage};
    const CompileReport report = plan_of(row.build(program));
    std::vector<std::string> got;
    for (const KernelLaunch& kernel : report.plan.kernels) {
      got.push_back(kernel.name);
      if (row.kernels[got.size() - 1 < row.kernels.size() ? got.size() - 1 : 0].find(' ') == std::string::npos)
        continue;
      std::string refs;
      for (const BufferRef ref : kernel.refs) refs += (refs.empty() ? "" : ",") + to_string(ref);
      got.back() += fmt::format(" {} {}", refs, kernel.flops);
    }
    EXPECT_EQ(got, row.kernels) << row.what;
  }
}

}  // namespace
}  // namespace uop
