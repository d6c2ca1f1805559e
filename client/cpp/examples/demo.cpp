// The client of scripts/demo: `uop_demo digits --data DIR` classifies handwritten digits, `uop_demo kernels` runs three
// programs and prints what each of their kernels cost. --server ADDRESS, or the engine in this process.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "client/cpp/algorithms.h"
#include "client/cpp/embedded.h"
#include "client/cpp/examples/digits.h"
#include "client/cpp/operators.h"
#include "client/cpp/remote.h"

namespace {

using namespace uop;

int run_digits(const ProgramPtr& program, const std::string& directory) {
  const DigitsResult result = classify_digits(program, directory);
  const RunReport& report = program->report();
  fmt::print("{} of {} right\n", result.right, result.queries);
  fmt::print("{} kernels, {} compiled; plan from {}; schedule {:.1f} ms, run {:.1f} ms\n", report.kernels,
             report.kernels_compiled, name(report.found_in), static_cast<double>(report.schedule.count()) / 1e6,
             static_cast<double>(report.run.count()) / 1e6);
  const bool same = result.right == result.expected && result.same_neighbours;
  fmt::print("the exact computation in the client {}\n",
             same ? "agrees on every neighbour" : fmt::format("DISAGREES: it has {} right", result.expected));
  return same ? 0 : 1;
}

/// Numbers in [-1, 1) that are the same in every run.
Tensor noise(const ProgramPtr& program, const Shape& shape, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;  // Numerical Recipes, 2nd edition, section 7.1
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return Tensor::from(program, values, shape);
}

/// Runs it once to compile and touch its memory, then once to time.
void show(const ProgramPtr& program, const char* title, const std::function<Tensor()>& build) {
  build().realize();
  const std::uint32_t compiled = program->report().kernels_compiled;
  build().realize();
  fmt::print("{} (first run: {} compiled)\n{}", title, compiled, to_text(program->report(), 2));
}

void run_kernels(const ProgramPtr& program) {
  program->options().verbosity = 2;
  const Tensor x = noise(program, {512, 512}, 1);
  show(program, "softmax of 512 x 512", [&] { return softmax(x); });
  const Tensor y = noise(program, {128, 256}, 2);
  const Tensor w = noise(program, {256, 256}, 3);
  show(program, "LayerNorm of 128 x 256 into a matmul with 256 x 256", [&] { return matmul(layernorm(y), w); });
  const Tensor a = noise(program, {128, 128}, 4);
  const Tensor b = noise(program, {128, 128}, 5);
  const Tensor c = noise(program, {128, 128}, 6);
  show(program, "(A @ B) @ C of 128 x 128", [&] { return matmul(matmul(a, b), c); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The programs of scripts/demo", "uop_demo");
  std::string server;
  std::string data = "tests/data/digits";
  app.add_option("-s,--server", server, "host:port or unix:/path; default: the engine in this process");
  CLI::App* digits = app.add_subcommand("digits", "Classify handwritten digits by their nearest neighbour");
  digits->fallthrough()->add_option("--data", data, "directory of images.npy and labels.npy")->capture_default_str();
  app.add_subcommand("kernels", "Run three programs and show their kernels")->fallthrough();
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto program = std::make_shared<Program>(value_or_throw(server.empty() ? embedded() : remote(server)));
    if (digits->parsed()) return run_digits(program, data);
    run_kernels(program);
    return 0;
  } catch (const ClientError& problem) {
    fmt::print(stderr, "uop_demo: {}\n", problem.what());
    return 1;
  }
}
