// uop_soak_diff: random graphs through the engine against the reference, for as long as told. Prints the seed and the
// shrunk listing of what fails; exit code 1 where anything did. scripts/soak-diff runs it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "tests/reference/differential.h"
#include "tests/reference/shrink.h"

namespace {

using uop::CompileOptions;
using namespace uop::reference;

struct Settings {
  double seconds = 60;
  std::uint64_t seed = 1;
  int steps = 24;
  int most_failures = 10;
  std::string opt;
  std::string numerics;
  std::string compiler;
  std::string cache_dir;
};

std::vector<CompileOptions> wanted_options(const Settings& s) {
  std::vector<CompileOptions> wanted = all_options();
  std::erase_if(wanted, [&](const CompileOptions& o) {
    return (!s.opt.empty() && s.opt != std::to_string(o.opt)) || (!s.numerics.empty() && s.numerics != o.numerics);
  });
  return wanted;
}

void report(Differential& engines, const RandomCase& c, const std::vector<CompileOptions>& options,
            const std::string& problem) {
  fmt::print("FAILED seed {}: {}\nshrinking…\n", c.seed, problem);
  std::fflush(stdout);
  const RandomCase small =
      shrunk(c, [&](const RandomCase& candidate) { return engines.run(candidate, options).problem.has_value(); });
  fmt::print("{}{}\n\n", to_text(small), engines.run(small, options).problem.value_or("no longer fails"));
  std::fflush(stdout);
}

int soak(const Settings& s) {
  const std::vector<CompileOptions> options = wanted_options(s);
  Differential engines(s.cache_dir, s.compiler);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Comparison all;
  std::uint64_t cases = 0;
  int failures = 0;
  double next_line = 10;
  for (std::uint64_t seed = s.seed; elapsed() < s.seconds && failures < s.most_failures; seed++, cases++) {
    const RandomCase c = random_case(seed, s.steps);
    const Verdict verdict = engines.run(c, options);
    all += verdict.comparison;
    if (verdict.problem) {
      failures++;
      report(engines, c, options, *verdict.problem);
    }
    if (elapsed() < next_line) continue;
    next_line += 10;
    fmt::print("{:.0f} s: {} graphs, next seed {}, {} failed\n", elapsed(), cases + 1, seed + 1, failures);
    std::fflush(stdout);
  }
  fmt::print("{} graphs under {} sets of options in {:.0f} s: {} failed; {} elements checked, {} open\n", cases,
             options.size(), elapsed(), failures, all.checked, all.skipped);
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Random graphs through the engine against the reference interpreter"};
  app.add_option("--seconds", s.seconds, "how long to go on")->capture_default_str();
  app.add_option("--seed", s.seed, "the first seed; each graph has the next one")->capture_default_str();
  app.add_option("--steps", s.steps, "ops a graph, about")->capture_default_str();
  app.add_option("--failures", s.most_failures, "stop after that many failures")->capture_default_str();
  app.add_option("--opt", s.opt, "only this optimisation level")->check(CLI::IsMember({"0", "1"}));
  app.add_option("--numerics", s.numerics, "only these numerics")->check(CLI::IsMember({"default", "strict"}));
  app.add_option("--compiler", s.compiler, "C compiler of the kernels, as the option of the engine");
  CLI11_PARSE(app, argc, argv);
  const std::filesystem::path cache = std::filesystem::temp_directory_path() / ("uop_soak_" + std::to_string(getpid()));
  s.cache_dir = cache;
  const int code = soak(s);
  std::filesystem::remove_all(cache);
  return code;
}
