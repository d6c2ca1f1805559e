// What the caches save: a plan found in memory, or in the store after a restart, against one made and compiled.
#include "bench/cases.h"
#include "bench/plan_runner.h"
#include "tests/engine/chapter_graphs.h"

namespace uop::bench {
namespace {

UOp softmax_512(Graph& g) {
  return chapter::softmax(chapter::input(g, 0, {512, 512}));
}

CompileOptions unoptimised() {
  CompileOptions o;
  o.opt = 0;  // the chapter's three kernels
  return o;
}

double compile_seconds(Engine& engine) {
  return seconds_of([&] { require(engine.compile(graph_of(softmax_512), unoptimised()).status()); });
}

double cold_seconds() {
  const ScratchDirectory directory;
  const auto engine = make_engine(directory.path(), 1);
  return compile_seconds(*engine);
}

}  // namespace

void register_plan_cases() {
  register_pair("plan_warm", 1, "cold plan (3 compiler runs)", [] {
    const auto directory = std::make_shared<ScratchDirectory>();
    const std::shared_ptr<Engine> engine = make_engine(directory->path(), 1);
    return Pair{[=] { return directory ? compile_seconds(*engine) : 0; }, cold_seconds};
  });
  register_pair("plan_restart", 1, "cold plan (3 compiler runs)", [] {
    const auto directory = std::make_shared<ScratchDirectory>();
    return Pair{[=] { return compile_seconds(*make_engine(directory->path(), 1)); }, cold_seconds};
  });
}

}  // namespace uop::bench
