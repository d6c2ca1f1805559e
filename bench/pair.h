// A benchmark case: ours against a peer, run by turns in one process, so that what else the machine does falls on both.
// Prints {"case":…,"threads":…,"ours_ms":…,"peer":…,"peer_ms":…,"ratio":…}, medians of all rounds.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

namespace uop::bench {

/// One timed run; whatever has to be prepared or undone for it happens outside of the time it returns, in seconds.
using TimedRun = std::function<double()>;

struct Pair {
  TimedRun ours;
  TimedRun peer;
};

/// Registers a case. `make` builds both sides when the case is selected.
void register_pair(const std::string& name, int threads, const std::string& peer_name, std::function<Pair()> make);

/// Wall time of `work` in seconds.
double seconds_of(const std::function<void()>& work);

/// Prints one JSON object a case to stdout.
class JsonLines final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;
};

}  // namespace uop::bench
