#include "core/compile/kernel_library.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <latch>
#include <mutex>
#include <optional>

#include "core/compile/artifact_store.h"
#include "core/compile/build_claim.h"
#include "core/compile/c_compiler.h"
#include "core/compile/compile_slots.h"
#include "core/compile/file_descriptor.h"
#include "core/compile/kernel_cache.h"
#include "core/compile/loaded_kernel.h"
#include "core/compile/single_flight.h"
#include "core/compile/toolchain.h"
#include "core/support/cpu_quota.h"
#include "core/support/environment.h"
#include "core/support/kernel_abi.h"
#include "core/support/log.h"

namespace uop {
namespace {

struct Counters {
  std::atomic<std::uint64_t> memory_hits = 0, store_hits = 0, store_misses = 0, compiles = 0, compile_failures = 0;
  std::atomic<std::int64_t> compile_ns = 0;
};

class Library final : public KernelLibrary {
 public:
  Library(const EngineOptions& options, Toolchain toolchain, std::unique_ptr<ArtifactStore> store,
          std::function<void(std::chrono::nanoseconds, bool)> on_compile)
      : toolchain_(std::move(toolchain)),
        store_(std::move(store)),
        on_compile_(std::move(on_compile)),
        time_limit_(options.compile_timeout_ms),
        jobs_(options.compile_jobs > 0 ? static_cast<int>(options.compile_jobs) : available_cpus()),
        slots_(jobs_),
        cache_(static_cast<std::size_t>(options.loaded_kernels)),
        pool_(static_cast<std::size_t>(jobs_)) {}

  ~Library() override { pool_.join(); }

  Digest key(const KernelSource& source) const override {
    std::string flags;
    for (const std::string& flag : kernel_flags(toolchain_, source.strict)) flags += flag + " ";
    return digest_of({source.text, toolchain_.info.identity, flags, kKernelEpoch});
  }

  StatusOr<KernelLoad> load(const KernelSource& source, const Cancel& cancel) override {
    const Digest k = key(source);
    if (auto hit = from_memory(k)) return *hit;
    bool joined = false;
    auto result = flights_.run(k, cancel, joined, [&] { return find_or_build(k, source, cancel); });
    if (result.ok() && joined) {  // another call paid for it
      ++counters_.memory_hits;
      return KernelLoad{result->kernel, KernelOrigin::kMemory, {}};
    }
    return result;
  }

  StatusOr<std::vector<KernelLoad>> load_all(const std::vector<KernelSource>& sources, const Cancel& cancel) override;

  const ToolchainInfo& toolchain() const override { return toolchain_.info; }
  ArtifactStore& store() override { return *store_; }

  KernelLibraryStats stats() const override {
    const ArtifactStoreStats s = store_->stats();
    return {.memory_hits = counters_.memory_hits,
            .store_hits = counters_.store_hits,
            .store_misses = counters_.store_misses,
            .compiles = counters_.compiles,
            .compile_failures = counters_.compile_failures,
            .store_evictions = s.evictions,
            .store_bad_entries = s.bad_entries,
            .store_errors = s.errors,
            .loaded = *live_,
            .store_bytes = s.bytes,
            .compile_seconds = static_cast<double>(counters_.compile_ns) * 1e-9};
  }

 private:
  std::optional<KernelLoad> from_memory(const Digest& k) {
    LoadedKernelPtr kernel = cache_.find(k);
    if (!kernel) return std::nullopt;
    ++counters_.memory_hits;
    return KernelLoad{std::move(kernel), KernelOrigin::kMemory, {}};
  }

  std::optional<KernelLoad> from_store(const Digest& k) {
    const auto opened = store_->open_verified(ArtifactKind::kKernel, k);
    if (!opened) return std::nullopt;
    const FileDescriptor file(*opened);
    auto kernel = load_kernel(file.get(), k, live_);
    if (!kernel.ok()) {
      // A directory that is mounted noexec cannot be mapped; memory can.
      const auto bytes = store_->read(ArtifactKind::kKernel, k);
      if (bytes) kernel = load_kernel(*bytes, k, live_);
    }
    if (!kernel.ok()) {
      log(LogLevel::kWarning, "cached_kernel_does_not_load", {{"error", message(kernel.status())}});
      store_->reject(ArtifactKind::kKernel, k);
      return std::nullopt;
    }
    ++counters_.store_hits;
    remember(*kernel);
    return KernelLoad{*kernel, KernelOrigin::kStore, {}};
  }

  /// What a miss in memory costs; called for one key by one thread at a time.
  StatusOr<KernelLoad> find_or_build(const Digest& k, const KernelSource& source, const Cancel& cancel) {
    if (auto hit = from_memory(k)) return *hit;  // built between the caller's look and its turn
    if (auto hit = from_store(k)) return *hit;
    if (!toolchain_.info.available) {
      ++counters_.store_misses;
      return error(StatusCode::kFailedPrecondition, "kernel {} is not in the cache and cannot be compiled: {}", k.hex(),
                   toolchain_.info.problem);
    }
    return build_in_turn(k, source, cancel);
  }

  /// Waits for a free slot and for the process that builds this key now, if one does, and builds unless that one did.
  /// A claim is held by those only who have a slot: what waits in the queue of one process, another may build.
  StatusOr<KernelLoad> build_in_turn(const Digest& k, const KernelSource& source, const Cancel& cancel) {
    // One that holds its claim for longer than any compiler may run is stopped; a second build is waste, but no harm.
    std::optional<Clock::time_point> most_wait;
    while (true) {
      {
        const auto slot = slots_.acquire(cancel);
        if (!slot.ok()) return slot.status();
        auto claim = store_->problem().empty() ? try_claim(store_->directory(), k) : BuildClaim();
        if (!claim && most_wait && Clock::now() >= *most_wait) claim = BuildClaim();
        if (claim) {
          if (store_->contains(ArtifactKind::kKernel, k))  // built by another process meanwhile
            if (auto hit = from_store(k)) return *hit;
          ++counters_.store_misses;
          return build(k, source, cancel);
        }
      }
      if (!most_wait) most_wait = Clock::now() + time_limit_;
      pause_between_tries(cancel);
    }
  }

  struct Made {
    LoadedKernelPtr kernel;
    std::string bytes;
    std::chrono::nanoseconds took;
  };

  /// One compiler run, counted.
  StatusOr<Made> compile(const Digest& k, const KernelSource& source, const Cancel& cancel) {
    const Clock::time_point start = Clock::now();
    auto bytes = compile_c(toolchain_,
                           {.text = source.text,
                            .symbol = kernel_symbol(k),
                            .strict = source.strict,
                            .scratch = store_->scratch(),
                            .time_limit = time_limit_},
                           cancel);
    const std::chrono::nanoseconds took = Clock::now() - start;
    auto kernel = bytes.ok() ? load_kernel(*bytes, k, live_) : StatusOr<LoadedKernelPtr>(bytes.status());
    ++counters_.compiles;
    if (!kernel.ok()) ++counters_.compile_failures;
    counters_.compile_ns += took.count();
    if (on_compile_) on_compile_(took, kernel.ok());
    if (!kernel.ok()) return kernel.status();
    return Made{*kernel, std::move(*bytes), took};
  }

  StatusOr<KernelLoad> build(const Digest& k, const KernelSource& source, const Cancel& cancel) {
    const bool storable = toolchain_.unchanged();
    const auto made = compile(k, source, cancel);
    if (!made.ok()) return made.status();
    // Loaded before it is stored: what does not load here must not reach others.
    if (storable)
      store_->write(ArtifactKind::kKernel, k, made->bytes);  // reports by itself; the kernel is good without
    else
      std::call_once(warned_, [&] {
        log(LogLevel::kWarning, "compiler_replaced",
            {{"compiler", toolchain_.info.path}, {"effect", "new kernels are not stored; restart to use it"}});
      });
    remember(made->kernel);
    return KernelLoad{made->kernel, KernelOrigin::kCompiler, made->took};
  }

  void remember(const LoadedKernelPtr& kernel) {
    cache_.insert(kernel);
    if (!toolchain_.info.available) return;
    // This toolchain has filled the store: note it for processes without one.
    if (recorded_) return;
    const std::string name = toolchain_record_name(toolchain_.info.cpu), record = toolchain_record(toolchain_.info);
    recorded_ = store_->read_record(name) == record || store_->write_record(name, record);
  }

  const Toolchain toolchain_;
  const std::unique_ptr<ArtifactStore> store_;
  const std::function<void(std::chrono::nanoseconds, bool)> on_compile_;
  const std::chrono::milliseconds time_limit_;
  const int jobs_;
  CompileSlots slots_;
  KernelCache cache_;
  SingleFlight<KernelLoad> flights_;
  const LiveCount live_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  Counters counters_;
  std::atomic<bool> recorded_ = false;
  std::once_flag warned_;
  boost::asio::thread_pool pool_;  // last: its threads use all of the above
};

StatusOr<std::vector<KernelLoad>> Library::load_all(const std::vector<KernelSource>& sources, const Cancel& cancel) {
  std::vector<KernelLoad> loads(sources.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    auto hit = from_memory(key(sources[i]));
    if (hit)
      loads[i] = std::move(*hit);
    else
      missing.push_back(i);
  }
  // The first error stops the others; so does the caller.
  std::stop_source stop;
  const std::stop_callback on_stop(cancel.token, [&] { stop.request_stop(); });
  const Cancel each{stop.get_token(), cancel.deadline};
  std::mutex mutex;
  Status first_error;
  const auto load_one = [&](std::size_t i) {
    Status status;
    try {
      auto result = load(sources[i], each);
      if (result.ok()) loads[i] = std::move(*result);
      status = result.status();
    } catch (const std::exception& e) {  // must not leave a thread of the pool
      status = error(StatusCode::kInternal, "kernel {}: {}", key(sources[i]).hex(), e.what());
    }
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (first_error.ok()) first_error = status;
    stop.request_stop();
  };
  if (missing.size() == 1) {
    load_one(missing[0]);  // no thread is worth it
  } else if (!missing.empty()) {
    std::latch done(static_cast<std::ptrdiff_t>(missing.size()));
    for (const std::size_t i : missing)
      boost::asio::post(pool_, [&, i] {
        load_one(i);
        done.count_down();
      });
    done.wait();
  }
  if (!first_error.ok()) return first_error;
  return loads;
}

}  // namespace

StatusOr<std::unique_ptr<KernelLibrary>> KernelLibrary::create(
    const EngineOptions& options, std::function<void(std::chrono::nanoseconds, bool ok)> on_compile) {
  remove_abandoned_scratch();
  auto toolchain = find_toolchain(options);
  if (!toolchain.ok()) return toolchain.status();
  auto store = ArtifactStore::open(options.cache_dir.empty() ? default_cache_dir() : options.cache_dir,
                                   static_cast<std::uint64_t>(options.cache_bytes));
  ToolchainInfo& info = toolchain->info;
  if (!info.available) {
    if (const auto record = store->read_record(toolchain_record_name(info.cpu))) apply_toolchain_record(*record, info);
    log(LogLevel::kWarning, "no_compiler", {{"problem", info.problem}, {"cache_made_by", info.version}});
  }
  return std::make_unique<Library>(options, std::move(*toolchain), std::move(store), std::move(on_compile));
}

}  // namespace uop
