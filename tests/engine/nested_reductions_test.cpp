// Which reductions nest at opt=1: rows of (graph, kernels).
#include <gtest/gtest.h>

#include <functional>

#include "core/compiler.h"
#include "tests/engine/chapter_graphs.h"

namespace uop {
namespace {

using namespace chapter;

struct Row {
  const char* what;
  std::function<std::vector<UOp>(Graph&)> roots;
  std::vector<std::string> kernels;
};

UOp row_sums(UOp x) {
  return reduce(Op::kAdd, x, 1);
}

const std::vector<Row>& rows() {
  using Roots = std::vector<UOp>;
  static const std::vector<Row> list = {
      {"softmax is one kernel",
       [](Graph& g) {
         return Roots{softmax(input(g, 0, {4, 8}))};
       },
       {"r_4_8"}},
      {"variance is one kernel",
       [](Graph& g) {
         return Roots{variance(input(g, 0, {4, 8}))};
       },
       {"r_4"}},
      {"(A@B)@C stays two",
       [](Graph& g) {
         return Roots{matmul(matmul(input(g, 0, {4, 5}), input(g, 1, {5, 6})), input(g, 2, {6, 7}))};
       },
       {"r_4_6", "r_4_7"}},
      {"LayerNorm ends where it is staged for the matmul",
       [](Graph& g) {
         return Roots{matmul(layernorm(input(g, 0, {128, 256})), input(g, 1, {256, 256}))};
       },
       {"r_128_256", "r_128_256"}},
      {"a value over the whole tensor is not computed once a slice",
       [](Graph& g) {
         const UOp x = input(g, 0, {4, 8});
         return Roots{add(x, broadcast_scalar(reduce(Op::kMax, x, 2), {4, 8}))};
       },
       {"r_1", "e_4_8"}},
      {"a scalar chain is one kernel",
       [](Graph& g) {
         return Roots{scaled(reduce(Op::kAdd, input(g, 0, {4, 8}), 2), 1.0 / 32)};
       },
       {"r_1"}},
      {"what two kernels read is computed once",
       [](Graph& g) {
         const UOp s = row_sums(input(g, 0, {4, 8}));
         return Roots{scaled(s, 2), scaled(s, 3)};
       },
       {"r_4", "e_4", "e_4"}},
      {"a root is stored, whoever else reads it",
       [](Graph& g) {
         const UOp s = row_sums(input(g, 0, {4, 8}));
         return Roots{s, scaled(s, 3)};
       },
       {"r_4", "e_4"}},
      {"column sums read by rows are not",
       [](Graph& g) {
         const UOp x = input(g, 0, {4, 8});
         return Roots{add(x, expand(reshape(row_sums(permute(x, {1, 0})), {1, 8}), {4, 8}))};
       },
       {"r_8", "e_4_8"}},
      {"read at two places: stored",
       [](Graph& g) {
         const UOp s = row_sums(input(g, 0, {4, 8}));
         return Roots{add(shrink(s, {0, 3}), shrink(s, {1, 4}))};
       },
       {"r_4", "e_3"}},
      {"rows of a reduction of rows: the outer one has no output loop, the inner one keeps its threads",
       [](Graph& g) {
         return Roots{reduce(Op::kAdd, square(row_sums(input(g, 0, {4, 8}))), 1)};
       },
       {"r_4", "r_1"}},
  };
  return list;
}

TEST(NestReductions, Rows) {
  for (const Row& r : rows()) {
    Graph g;
    const StatusOr<Plan> plan = compile_plan(r.roots(g), CompileOptions{});
    ASSERT_TRUE(plan.ok()) << r.what << ": " << message(plan.status());
    std::vector<std::string> names;
    for (const KernelLaunch& k : plan->kernels) names.push_back(k.name);
    EXPECT_EQ(names, r.kernels) << r.what;
  }
}

}  // namespace
}  // namespace uop
