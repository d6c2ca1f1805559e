// A tensor program: the graph of what was asked for so far, the buffers it reads, and the device they are on.
//
// Tensors share one Program and are its users; `realize` runs what some of them stand for. A program belongs to one
// thread at a time; any number of programs may share a device.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <unordered_map>

#include "client/cpp/device.h"

namespace uop {

class Program;
using ProgramPtr = std::shared_ptr<Program>;

/// What a Tensor and its copies share: a node of the program's graph. Known to the program while it lives.
struct TensorState : std::enable_shared_from_this<TensorState> {
  TensorState(ProgramPtr owner, UOp value);
  ~TensorState();
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;

  ProgramPtr program;
  UOp node;
  bool requires_grad = false;             // gradients flow to it: a parameter, or computed from one
  bool is_leaf = true;                    // not computed from tensors that require gradients
  std::uint64_t age = 0;                  // among the states of the program
  UOp before;                             // of a leaf that was realized: the node it was, which a loss may hold
  std::shared_ptr<TensorState> gradient;  // what `backward` has summed up
};

/// Within its life, on its thread, results do not depend on their inputs as far as gradients go.
class NoGrad {
 public:
  NoGrad() : before_(active()) { active() = true; }
  ~NoGrad() { active() = before_; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  static bool& active();

 private:
  const bool before_;
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

  /// `u` in terms of what the realized values in it were computed from, as far as gradients pass through them.
  UOp with_history(UOp u);
  /// The leaves that require gradients, in the order they were made.
  std::vector<std::shared_ptr<TensorState>> parameters() const;

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
  std::unordered_map<std::int64_t, UOp> origins_;           // by slot: what the buffer was computed by, in its shape
  std::map<std::uint64_t, TensorState*> live_;              // by age
  std::uint64_t next_state_ = 0;
};

}  // namespace uop
