// uop_soak_diff: random graphs, many to a run of the C compiler, against the reference, for as long as told. Prints the
// seed, the shrunk listing and the command that shows it again for what fails. Exit code: 0, 1 where anything differs,
// 2 for a command line that can't be. scripts/soak-diff runs it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "tests/reference/stretch.h"

namespace {

using namespace uop::reference;

constexpr int kPiece = 50;  // graphs that a thread takes at a time

struct Settings {
  double seconds = 60;
  std::uint64_t graphs = UINT64_MAX;
  std::uint64_t seed = 1;
  int steps = 8;
  std::size_t most_failures = 10;
  int jobs = 2;
  std::string kind = "any";
  std::string opt;
  std::string numerics;
  std::string compiler;
};

/// The variants of the kind, without those that are not asked for; a graph that has none left is not run.
VariantsOf wanted(const Settings& s, Kind kind) {
  return [&s, of = variants_of(kind)](std::uint64_t seed) {
    std::vector<Variant> variants = of(seed);
    std::erase_if(variants, [&](const Variant& v) {
      return (!s.opt.empty() && s.opt != std::to_string(v.options.opt)) ||
             (!s.numerics.empty() && s.numerics != v.options.numerics);
    });
    return variants;
  };
}

class Soak {
 public:
  explicit Soak(const Settings& settings)
      : settings_(settings), kind_(settings.kind == name(Kind::kStrict) ? Kind::kStrict : Kind::kAny) {}

  int run() {
    std::vector<std::thread> workers;
    for (int i = 0; i < settings_.jobs; i++) workers.emplace_back([this] { work(); });
    for (std::thread& w : workers) w.join();
    fmt::print("{} graphs in {:.0f} s, {:.0f} a second: {} failed; {} elements checked, {} open\n", graphs_, elapsed(),
               static_cast<double>(graphs_) / elapsed(), failures_, all_.checked, all_.skipped);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  /// The next piece of seeds, until it is time to stop.
  std::optional<Stretch> next() {
    const std::lock_guard lock(mutex_);
    if (elapsed() >= settings_.seconds || given_ >= settings_.graphs || failures_ >= settings_.most_failures)
      return std::nullopt;
    const auto graphs = std::min<std::uint64_t>(kPiece, settings_.graphs - given_);
    const Stretch piece{"", settings_.seed + given_, static_cast<int>(graphs), settings_.steps, kind_};
    given_ += graphs;
    return piece;
  }

  void work() {
    Batches batches(settings_.compiler);
    while (const std::optional<Stretch> piece = next())
      hear(*piece, run_stretch(batches, *piece, wanted(settings_, kind_), settings_.most_failures));
  }

  void hear(const Stretch& piece, const StretchResult& result) {
    const std::lock_guard lock(mutex_);
    graphs_ += static_cast<std::uint64_t>(piece.graphs);
    all_ += result.comparison;
    failures_ += result.failed.size();
    for (const std::string& report : result.failed) fmt::print("FAILED {}\n", report);
    if (elapsed() >= next_line_) {
      next_line_ = elapsed() + 10;
      fmt::print("{:.0f} s: {} graphs, up to seed {}, {} failed\n", elapsed(), graphs_, settings_.seed + given_ - 1,
                 failures_);
    }
    std::fflush(stdout);
  }

  const Settings& settings_;
  const Kind kind_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards all below
  std::uint64_t given_ = 0;
  std::uint64_t graphs_ = 0;
  std::size_t failures_ = 0;
  double next_line_ = 10;
  Comparison all_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"Random graphs against the reference interpreter"};
  app.add_option("--seconds", s.seconds, "how long to go on")->capture_default_str();
  app.add_option("--graphs", s.graphs, "stop after that many graphs");
  app.add_option("--seed", s.seed, "the first seed; each graph has the next one")->capture_default_str();
  app.add_option("--steps", s.steps, "ops a graph, about")->check(CLI::Range(0, 1000))->capture_default_str();
  app.add_option("--kind", s.kind, "any: one set of options a graph; strict: one answer under all of them")
      ->check(CLI::IsMember({"any", "strict"}))
      ->capture_default_str();
  app.add_option("--failures", s.most_failures, "stop after that many failures")->capture_default_str();
  app.add_option("--jobs", s.jobs, "compiler runs at a time")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--opt", s.opt, "only this optimisation level")->check(CLI::IsMember({"0", "1"}));
  app.add_option("--numerics", s.numerics, "only these numerics")->check(CLI::IsMember({"default", "strict"}));
  app.add_option("--compiler", s.compiler, "C compiler of the kernels, as the option of the engine");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return Soak(s).run();
}
