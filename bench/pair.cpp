#include "bench/pair.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

namespace uop::bench {
namespace {

/// Rounds go on until both have been met, or the longest has.
constexpr int kMinRounds = 5;
constexpr double kEnoughSeconds = 2;
constexpr double kMostSeconds = 20;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void run_pair(benchmark::State& state, const std::function<Pair()>& make) {
  const Pair pair = make();
  pair.ours();  // warm
  pair.peer();
  std::vector<double> ours;
  std::vector<double> peer;
  for (auto unused : state) {
    (void)unused;
    double spent = 0;
    while (spent < kMostSeconds && (static_cast<int>(ours.size()) < kMinRounds || spent < kEnoughSeconds)) {
      ours.push_back(pair.ours());
      peer.push_back(pair.peer());
      spent += ours.back() + peer.back();
    }
  }
  state.counters["ours_ms"] = median(ours) * 1e3;
  state.counters["peer_ms"] = median(peer) * 1e3;
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void register_pair(const std::string& name, int threads, const std::string& peer_name, std::function<Pair()> make) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run_pair(state, make);
    state.counters["threads"] = threads;
    state.SetLabel(peer_name);
  })->Iterations(1);
}

void JsonLines::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& r : runs) {
    nlohmann::ordered_json line;
    const std::string name = r.benchmark_name();
    line["case"] = name.substr(0, name.find('/'));
    if (r.error_occurred) {
      line["error"] = r.error_message;
    } else {
      const double ours = r.counters.at("ours_ms");
      const double peer = r.counters.at("peer_ms");
      line["threads"] = static_cast<int>(r.counters.at("threads"));
      line["ours_ms"] = ours;
      line["peer"] = r.report_label;
      line["peer_ms"] = peer;
      line["ratio"] = peer / ours;
    }
    std::cout << line.dump() << std::endl;
  }
}

}  // namespace uop::bench
