// Kernels, compiled once: C text in, a loaded function out. Looks in memory, then in the artifact store on disk, and
// runs the compiler only where both miss; one build per key at a time, in this process and across processes.
//
// KernelLibrary::load is what others call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/support/cancel.h"
#include "core/support/digest.h"
#include "core/support/kernel_abi.h"
#include "core/support/options.h"

namespace uop {

class ArtifactStore;

/// What is compiled: C text that defines `void UOP_ENTRY(void *const *, const long *, long, long)` and needs no
/// header and no library. `strict` selects -ffp-contract=off instead of fast.
struct KernelSource {
  std::string text;
  bool strict = false;
};

/// A kernel mapped into this process; unmapped when the last reference goes.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  virtual KernelEntry entry() const = 0;
  virtual const Digest& key() const = 0;
};
using LoadedKernelPtr = std::shared_ptr<const LoadedKernel>;

/// Where a kernel came from.
enum class KernelOrigin { kMemory, kStore, kCompiler };

struct KernelLoad {
  LoadedKernelPtr kernel;
  KernelOrigin origin;
  std::chrono::nanoseconds compile_time{};  // of the compiler run; 0 unless origin is kCompiler
};

/// Counters since the start of the process, and the present state.
struct KernelLibraryStats {
  std::uint64_t memory_hits, store_hits, store_misses, compiles, compile_failures, store_evictions, store_bad_entries,
      store_errors;
  std::uint64_t loaded;       // kernels mapped now
  std::uint64_t store_bytes;  // bytes of the store as last counted
  double compile_seconds;     // sum over all compiler runs
};

/// What the toolchain is, found once at start.
struct ToolchainInfo {
  bool available = false;  // false: kernels are served from memory and the store only
  std::string path;        // the compiler's path
  std::string version;     // first line of --version
  std::string identity;    // hex digest of the content of the compiler: part of every key
  std::string cpu;         // resolved instruction set level: "x86-64-v3"
  std::string flags;       // all flags, joined by spaces: part of every key
  std::string problem;     // why there is none, with a remedy
};

class KernelLibrary {
 public:
  /// Finds the compiler and opens the store. Never fails for want of either: without a compiler `toolchain()` says
  /// so, without a usable directory kernels are kept in memory, with a log line. Errors: INVALID_ARGUMENT for a named
  /// compiler that does not exist or a cpu level above this machine's.
  /// `on_compile` is called after each compiler run with its time and whether it succeeded; from any thread.
  static StatusOr<std::unique_ptr<KernelLibrary>> create(
      const EngineOptions& options, std::function<void(std::chrono::nanoseconds, bool ok)> on_compile = nullptr);
  virtual ~KernelLibrary() = default;

  /// SHA-256 over the C text, the compiler's identity, the resolved flags and kKernelEpoch.
  virtual Digest key(const KernelSource& source) const = 0;

  /// The kernel, compiled if need be. Callers of one key at a time share one build and its failure; only a waiter whose
  /// builder is cancelled, or meets its deadline, builds for itself. Errors: FAILED_PRECONDITION without a compiler
  /// (names what is missing), CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (compiler over its time limit, no
  /// process to be had), INTERNAL (the compiler refused the text: its first lines are quoted).
  virtual StatusOr<KernelLoad> load(const KernelSource& source, const Cancel& cancel) = 0;

  /// Each of `sources` by `load`, up to compile_jobs at a time; results in order. The first error wins.
  virtual StatusOr<std::vector<KernelLoad>> load_all(const std::vector<KernelSource>& sources,
                                                     const Cancel& cancel) = 0;

  virtual const ToolchainInfo& toolchain() const = 0;
  virtual KernelLibraryStats stats() const = 0;
  /// The store, shared with the plan cache; its operations report, never throw.
  virtual ArtifactStore& store() = 0;
};

}  // namespace uop
