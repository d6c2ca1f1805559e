// A tensor program: the graph of what was asked for so far, the buffers it reads, and the device they are on.
//
// Tensors share one Program and are its users; `realize` runs what some of them stand for. A program belongs to one
// thread at a time; any number of programs may share a device.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "client/cpp/device.h"

namespace uop {

class Program;
using ProgramPtr = std::shared_ptr<Program>;

/// What a Tensor and its copies share: a node of the program's graph. Known to the program while it lives.
struct TensorState {
  TensorState(ProgramPtr owner, UOp value);
  ~TensorState();
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;

  ProgramPtr program;
  UOp node;
  UOp history;  // of a realized tensor of one element: the node it was computed by, since it may be a loss
};

class Program {
 public:
  explicit Program(std::shared_ptr<Device> device, RunOptions options = {});

  Device& device() { return *device_; }
  /// How runs are compiled and what they report; may be changed between runs.
  RunOptions& options() { return options_; }
  /// Of the latest realize that had something to run.
  const RunReport& report() const { return report_; }

  Graph& graph() { return *graph_; }
  /// A leaf that reads `buffer`, with `shape`.
  UOp leaf(BufferHandle buffer, const Shape& shape);
  /// The buffer whose elements are those of `node` in order, or nothing where it has to be computed.
  BufferHandle buffer_of(UOp node) const;

  /// The plan of the states in one graph, made and cached but not run. Throws ClientError.
  CompileReport compile(std::span<TensorState* const> states);

  /// Computes the states in one graph and makes each a leaf on its result; so are all others that stand for the same
  /// value. Frees buffers that no tensor needs any more. Throws ClientError; then nothing has changed.
  void realize(std::span<TensorState* const> states);

 private:
  friend struct TensorState;
  /// What is to be computed, as it is sent.
  struct Request {
    std::vector<UOp> wanted;  // nodes of the program, each once
    RootedGraph graph;        // the same, slots counted from 0 in canonical order: equal programs send equal bytes
    std::vector<BufferHandle> inputs;
  };
  Request request_for(std::span<TensorState* const> states) const;
  void collect();

  std::shared_ptr<Device> device_;
  RunOptions options_;
  RunReport report_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::int64_t next_slot_ = 0;
  std::unordered_map<std::int64_t, BufferHandle> buffers_;  // by slot
  std::unordered_set<TensorState*> live_;
};

}  // namespace uop
