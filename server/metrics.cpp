#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <algorithm>

namespace uop {
namespace {

/// From a look-up over loopback to a long run.
const prometheus::Histogram::BucketBoundaries kCallSeconds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
/// From a persistent compiler to its time limit.
const prometheus::Histogram::BucketBoundaries kCompileSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                                 0.5,   1,    2.5,   10,   60};

/// A clock that was set back never makes a negative observation.
double seconds(std::chrono::nanoseconds time) {
  return std::max(0.0, std::chrono::duration<double>(time).count());
}

}  // namespace

Metrics::Metrics() {
  auto& rpcs = prometheus::BuildCounter().Name("uopd_rpcs_total").Help("Finished calls.").Register(*registry_);
  auto& rpc_seconds = prometheus::BuildHistogram()
                          .Name("uopd_rpc_seconds")
                          .Help("Time from the arrival of a call to its reply.")
                          .Register(*registry_);
  for (std::size_t m = 0; m < kMethodNames.size(); ++m) {
    const std::string method(kMethodNames[m]);
    rpc_seconds_[m] = &rpc_seconds.Add({{"method", method}}, kCallSeconds);
    for (std::size_t c = 0; c < kCodes; ++c)
      rpcs_[m][c] = &rpcs.Add({{"method", method}, {"code", code_name(static_cast<StatusCode>(c))}});
  }
  queue_seconds_ = &prometheus::BuildHistogram()
                        .Name("uopd_queue_seconds")
                        .Help("Time that compiles and runs waited for a thread.")
                        .Register(*registry_)
                        .Add({}, kCallSeconds);
  compile_seconds_ = &prometheus::BuildHistogram()
                          .Name("uopd_compile_seconds")
                          .Help("Time of each compiler run.")
                          .Register(*registry_)
                          .Add({}, kCompileSeconds);
  compile_failures_ = &prometheus::BuildCounter()
                           .Name("uopd_compile_failures_total")
                           .Help("Compiler runs that failed or were stopped.")
                           .Register(*registry_)
                           .Add({});
}

void Metrics::rpc(Method method, StatusCode code, std::chrono::nanoseconds time) {
  const auto m = static_cast<std::size_t>(method);
  const auto c = static_cast<std::size_t>(code);
  rpcs_[m][c < kCodes ? c : static_cast<std::size_t>(StatusCode::kUnknown)]->Increment();
  rpc_seconds_[m]->Observe(seconds(time));
}

void Metrics::queued(std::chrono::nanoseconds time) {
  queue_seconds_->Observe(seconds(time));
}

void Metrics::compiled(std::chrono::nanoseconds time, bool ok) {
  compile_seconds_->Observe(seconds(time));
  if (!ok) compile_failures_->Increment();
}

}  // namespace uop
