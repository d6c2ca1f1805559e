// What the cut costs and saves: one nest against two kernels, three kernels against one, staged against recomputed.
#include "bench/cases.h"
#include "bench/plan_runner.h"
#include "tests/engine/chapter_graphs.h"

namespace uop::bench {
namespace {

using namespace chapter;

CompileOptions options_of(std::int64_t opt, bool fuse_reduce, bool stage) {
  CompileOptions o;
  o.opt = opt;
  o.fuse_reduce = fuse_reduce;
  o.stage = stage;
  return o;
}

/// The same graph under two sets of options, on one engine.
void register_options_pair(const std::string& name, const Build& build, const CompileOptions& ours,
                           const std::string& peer_name, const CompileOptions& peer) {
  for (const int threads : {1, 2}) {
    register_pair(name, threads, peer_name, [=] {
      const auto directory = std::make_shared<ScratchDirectory>();
      const std::shared_ptr<Engine> engine = make_engine(directory->path(), threads);
      const auto a = std::make_shared<PlanRunner>(*engine, build, ours);
      const auto b = std::make_shared<PlanRunner>(*engine, build, peer);
      return Pair{[=] { return directory && engine ? a->run() : 0; }, [=] { return b->run(); }};
    });
  }
}

UOp matmul_chain(Graph& g) {
  return matmul(matmul(input(g, 0, {128, 128}), input(g, 1, {128, 128})), input(g, 2, {128, 128}));
}
UOp softmax_512(Graph& g) {
  return softmax(input(g, 0, {512, 512}));
}
UOp layernorm_matmul(Graph& g) {
  return matmul(layernorm(input(g, 0, {128, 256})), input(g, 1, {256, 256}));
}

}  // namespace

void register_kernel_cases() {
  register_options_pair("matmul_chain_128", matmul_chain, options_of(0, false, true), "one nest (fuse_reduce)",
                        options_of(0, true, true));
  register_options_pair("softmax_512", softmax_512, options_of(1, false, true), "3 kernels (opt=0)",
                        options_of(0, false, true));
  register_options_pair("layernorm_matmul", layernorm_matmul, options_of(1, false, true), "without staging",
                        options_of(1, false, false));
}

}  // namespace uop::bench
