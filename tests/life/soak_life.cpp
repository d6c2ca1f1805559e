// uop_soak_life: a long life of an engine with small caches; exit code 1 where it does not reach a plateau, or a result
// is wrong. scripts/soak-life runs it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "tests/life/life.h"
#include "tests/life/vitals.h"

namespace {

using namespace uop;

constexpr std::int64_t kSamples = 40;
constexpr Slack kSlack{.resident_kib = 48 << 10, .heap_kib = 2 << 10, .mappings = 64};

int soak(const LifeSettings& settings) {
  const StatusOr<std::unique_ptr<Life>> life = Life::begin(settings);
  if (!life.ok()) {
    fmt::print(stderr, "{}\n", message(life.status()));
    return 1;
  }
  fmt::print("{} graphs of {} shared kernels; one of {} has a kernel of its own; at most {} kernels loaded\n",
             settings.graphs, (*life)->shared_kernels(), settings.fresh_every, settings.loaded_kernels);
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t step = std::max<std::int64_t>(1, settings.graphs / kSamples);
  Vitals settled;  // after the first quarter
  std::string grown;
  for (std::int64_t first = 0; first < settings.graphs; first += step) {
    const std::int64_t end = std::min(first + step, settings.graphs);
    if (const Status status = (*life)->live(first, end); !status.ok()) {
      fmt::print("FAILED: {}\n", message(status));
      return 1;
    }
    const Vitals now = vitals();
    const EngineStats s = (*life)->stats();
    fmt::print("{:5.0f} s: {} graphs; {}; {} kernels loaded, {} compiler runs, {} loads from the store, {} plans\n",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), end, to_text(now),
               s.kernels.loaded, s.kernels.compiles, s.kernels.store_hits, s.plans);
    std::fflush(stdout);
    if (end <= settings.graphs / 4)
      settled = now;
    else
      grown = growth(settled, now, kSlack);
    if (now.children != 0) grown += fmt::format("{} children; ", now.children);
    if (!grown.empty()) {
      fmt::print("FAILED: no plateau since the first quarter: {}\n", grown);
      return 1;
    }
  }
  const EngineStats s = (*life)->stats();
  fmt::print("a plateau since the first quarter: {}\n", to_text(settled));
  fmt::print("{} structures planned, {} plans evicted from memory; ", s.plan_misses, s.plan_evictions);
  fmt::print("{} compiler runs, {} given up; ", s.kernels.compiles, s.kernels.compile_failures);
  fmt::print("{} kernels loaded from the store; ", s.kernels.store_hits);
  fmt::print("store: {} bytes, {} evictions, {} bad entries, {} errors\n", s.kernels.store_bytes,
             s.kernels.store_evictions, s.kernels.store_bad_entries, s.kernels.store_errors);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  LifeSettings settings;
  settings.graphs = 20'000;
  settings.fresh_every = 20;
  settings.loaded_kernels = 32;
  settings.plan_cache_bytes = 1 << 20;
  CLI::App app{"A long life of an engine with small caches: what it holds of the system must reach a plateau"};
  app.add_option("--graphs", settings.graphs, "distinct graphs to compile and run")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{100}, std::int64_t{10'000'000}));
  app.add_option("--fresh-every", settings.fresh_every, "each such graph has a kernel that is new; 1: all of them")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--callers", settings.callers, "threads that call the engine")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--loaded-kernels", settings.loaded_kernels, "as the option of the engine")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / ("uop_soak_life_" + std::to_string(getpid()));
  settings.cache_dir = cache;
  const int code = soak(settings);
  std::filesystem::remove_all(cache);
  return code;
}
