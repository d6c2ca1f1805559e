// A plan: what a graph became. Plain data that holds no node and no buffer, so it can be cached, stored, and run by
// any number of requests at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/dtype.h"

namespace uop {

/// What a kernel parameter is bound to: input, temporary or output number `index` of the plan.
struct BufferRef {
  enum class Kind : std::uint8_t { kIn, kTmp, kOut };
  Kind kind;
  std::uint32_t index;
  bool operator==(const BufferRef&) const = default;
};

/// "in0", "tmp1", "out0"
std::string to_string(BufferRef ref);

/// The C text of a kernel; kernels of one plan that do the same thing to different buffers share it.
struct KernelProgram {
  std::string source;
  bool operator==(const KernelProgram&) const = default;
};

/// One launch, in schedule order.
struct KernelLaunch {
  std::string name;                      // "r_4_8": reduction or elementwise, then the output shape
  std::uint32_t program;                 // into Plan::programs
  std::vector<BufferRef> refs;           // one per parameter, output last
  std::vector<std::uint32_t> variables;  // plan variables passed, in order
  std::int64_t parallel;                 // iterations of the outer parallel loop that may be split; 1: run as a whole
  std::uint64_t flops;                   // one per element of every ALU op, and per reduced or scattered one
  std::uint64_t bytes;                   // of all buffers it touches, each once
  bool operator==(const KernelLaunch&) const = default;
};

struct TensorSpec {
  DType dtype;
  std::int64_t elements;
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements * byte_size(dtype)); }
  bool operator==(const TensorSpec&) const = default;
};

/// Where a temporary may begin, so that vectors of any width are loaded and stored aligned.
inline constexpr std::uint64_t kScratchAlignment = 64;

/// A temporary: written by kernel `first`, last read by kernel `last`, at `offset` of the run's scratch memory.
struct TempSpec {
  TensorSpec tensor;
  std::uint32_t first;
  std::uint32_t last;
  std::uint64_t offset;
  bool operator==(const TempSpec&) const = default;
};

/// An output: fresh memory, or an input handed back because the root already was that buffer.
struct OutputSpec {
  TensorSpec tensor;
  std::int64_t alias_of_input = -1;  // -1: fresh
  bool operator==(const OutputSpec&) const = default;
};

struct VariableSpec {
  std::int64_t min;
  std::int64_t max;
  bool operator==(const VariableSpec&) const = default;
};

struct Plan {
  std::vector<TensorSpec> inputs = {};
  std::vector<VariableSpec> variables = {};
  std::vector<KernelProgram> programs = {};
  std::vector<KernelLaunch> kernels = {};
  std::vector<TempSpec> temps = {};
  std::vector<OutputSpec> outputs = {};
  std::uint64_t scratch_bytes = 0;  // of all temporaries after those with disjoint lifetimes share storage
  bool strict = false;              // how the programs are compiled: numerics=strict
  bool operator==(const Plan&) const = default;

  std::uint64_t flops() const;
  std::uint64_t output_bytes() const;  // of fresh outputs
};

/// A table of kernels, refs, flops, bytes, temporaries and outputs, as `uop plan` prints it.
std::string to_text(const Plan& plan);

}  // namespace uop
