#include "server/engine_collector.h"

#include <chrono>

namespace uop {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// The families of one scrape; a name's series stand together, since they are added together.
class Families {
 public:
  void counter(const char* name, const char* help, double value, Labels labels = {}) {
    series(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
  }
  void gauge(const char* name, const char* help, double value, Labels labels = {}) {
    series(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  ClientMetric& series(const char* name, const char* help, MetricType type, Labels labels) {
    if (families_.empty() || families_.back().name != name) families_.push_back({name, help, type, {}});
    ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }
  std::vector<MetricFamily> families_;
};

double number(std::uint64_t n) {
  return static_cast<double>(n);
}

void add_kernels(Families& f, const KernelTable& kernels) {
  const auto rows = kernels.rows();
  for (const auto& [name, t] : rows)
    f.counter("uopd_kernel_runs_total", "Runs of each kernel; those beyond the top 50 are 'other'.", number(t.runs),
              {{"kernel", name}});
  for (const auto& [name, t] : rows)
    f.counter("uopd_kernel_seconds_total", "Time in each kernel.", t.seconds, {{"kernel", name}});
  for (const auto& [name, t] : rows)
    f.counter("uopd_kernel_flops_total", "Floating point and integer operations of each kernel.", number(t.flops),
              {{"kernel", name}});
  for (const auto& [name, t] : rows)
    f.counter("uopd_kernel_bytes_total", "Bytes of the buffers that each kernel touched, each once a run.",
              number(t.bytes), {{"kernel", name}});
}

void add_caches(Families& f, const EngineStats& s) {
  const char* plan_hits = "Plans found in a cache.";
  f.counter("uopd_plan_cache_hits_total", plan_hits, number(s.plan_memory_hits), {{"tier", "memory"}});
  f.counter("uopd_plan_cache_hits_total", plan_hits, number(s.plan_store_hits), {{"tier", "store"}});
  f.counter("uopd_plan_cache_misses_total", "Plans that had to be made.", number(s.plan_misses));
  f.counter("uopd_plan_cache_evictions_total", "Plans dropped from memory to make room.", number(s.plan_evictions));
  f.gauge("uopd_plan_cache_bytes", "Bytes of the plans in memory.", number(s.plan_bytes));
  f.gauge("uopd_plan_cache_plans", "Plans in memory.", number(s.plans));

  const char* kernel_hits = "Kernels found loaded, or in the store.";
  f.counter("uopd_kernel_cache_hits_total", kernel_hits, number(s.kernels.memory_hits), {{"tier", "memory"}});
  f.counter("uopd_kernel_cache_hits_total", kernel_hits, number(s.kernels.store_hits), {{"tier", "store"}});
  f.counter("uopd_kernel_cache_misses_total", "Kernels that were neither loaded nor in the store.",
            number(s.kernels.store_misses));
  f.gauge("uopd_kernels_loaded", "Kernels mapped into the server.", number(s.kernels.loaded));

  f.gauge("uopd_store_bytes", "Bytes of the cache directory.", number(s.store.bytes));
  f.gauge("uopd_store_entries", "Entries of the cache directory.", number(s.store.entries));
  f.counter("uopd_store_evictions_total", "Entries removed to keep the directory in its bound.",
            number(s.store.evictions));
  f.counter("uopd_store_bad_entries_total", "Entries that failed their check and were removed.",
            number(s.store.bad_entries));
  f.counter("uopd_store_errors_total", "Operations that the cache directory refused.", number(s.store.errors));
}

void add_pool(Families& f, const BufferPoolStats& s) {
  const char* bytes = "Bytes of the buffer pool.";
  f.gauge("uopd_pool_bytes", bytes, number(s.in_use_bytes), {{"state", "in_use"}});
  f.gauge("uopd_pool_bytes", bytes, number(s.cached_bytes), {{"state", "cached"}});
  f.gauge("uopd_pool_limit_bytes", "Upper bound of the buffer pool.", number(s.limit_bytes));
  f.gauge("uopd_pool_peak_bytes", "Most bytes of the pool in use at a time so far.", number(s.peak_bytes));
}

}  // namespace

std::vector<MetricFamily> EngineCollector::Collect() const {
  Families f;
  const EngineStats stats = state_.engine->stats();
  const ToolchainInfo& toolchain = state_.engine->kernels().toolchain();
  add_kernels(f, state_.kernels);
  add_caches(f, stats);
  add_pool(f, stats.pool);
  f.gauge("uopd_sessions", "Open sessions.", number(state_.sessions.sessions()));
  f.gauge("uopd_buffers", "Buffers of all sessions.", number(state_.sessions.buffers()));
  f.gauge("uopd_draining", "1 while the server finishes its last calls.", state_.gate.closed() ? 1 : 0);
  f.gauge("uopd_uptime_seconds", "Time since the start.", std::chrono::duration<double>(state_.uptime()).count());
  f.gauge("uopd_build_info", "Always 1; what runs here is in the labels.", 1,
          {{"version", UOPD_VERSION},
           {"cpu", toolchain.cpu},
           {"compiler", toolchain.available ? toolchain.version : "none"}});
  return f.take();
}

}  // namespace uop
