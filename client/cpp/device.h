// Where tensors live and run. Two implementations: remote(address) in remote.h, a server; embedded(options) in
// embedded.h, the same engine in this process. The same program gives bit-identical results on both.
//
// All methods block; they may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/cpp/report.h"
#include "core/ir/plan.h"
#include "core/ir/uop.h"
#include "core/support/options.h"
#include "core/support/status.h"

namespace uop {

/// Memory of a tensor on a device; freed there when the last handle goes. Immutable.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(TensorSpec tensor) : tensor_(tensor) {}
  virtual ~DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  const TensorSpec& tensor() const { return tensor_; }

 private:
  TensorSpec tensor_;
};
using BufferHandle = std::shared_ptr<const DeviceBuffer>;

/// That a value is given for `slot` of the graph. Errors: INVALID_ARGUMENT that says how many there are.
inline Status check_given(std::string_view kind, std::int64_t slot, std::size_t given) {
  if (static_cast<std::size_t>(slot) < given) return ok_status();
  return invalid_argument("the graph reads {} slot {}, but {} values are given; give one for each slot", kind, slot,
                          given);
}

struct RunOptions {
  CompileOptions compile = {};
  int verbosity = 0;                                                // 0..4, see RunReport
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  // of the whole call; none: no limit
};

struct RunOutcome {
  std::vector<BufferHandle> outputs;  // one per root
  RunReport report;
};

class Device {
 public:
  virtual ~Device() = default;

  /// Copies `bytes` (row-major, little-endian) to the device. Errors: INVALID_ARGUMENT where their number is not that
  /// of `tensor`; RESOURCE_EXHAUSTED where the device is full.
  virtual StatusOr<BufferHandle> put(std::span<const std::byte> bytes, TensorSpec tensor) = 0;
  virtual StatusOr<std::vector<std::byte>> get(const BufferHandle& buffer) = 0;

  /// Runs the graph: inputs[s] is BUFFER slot s, variables[s] VARIABLE slot s. Errors: as Engine::compile and
  /// Engine::run; UNAVAILABLE, where a server is not there, names it.
  virtual StatusOr<RunOutcome> run(const RootedGraph& graph, std::span<const BufferHandle> inputs,
                                   std::span<const std::int64_t> variables, const RunOptions& options) = 0;

  /// Makes and caches the plan and its kernels, without a run.
  virtual StatusOr<CompileReport> compile(const RootedGraph& graph, const CompileOptions& options) = 0;
  /// The same, with the text of every stage.
  virtual StatusOr<ExplainReport> explain(const RootedGraph& graph, const CompileOptions& options) = 0;
  virtual StatusOr<DeviceStatus> status() = 0;

  /// "embedded", or the server's address.
  virtual std::string name() const = 0;
};

}  // namespace uop
