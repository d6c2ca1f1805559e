#include "core/exec/executor.h"

#include "core/exec/slices.h"
#include "core/support/fp_state.h"

namespace uop {
namespace {

Status check_inputs(const Plan& plan, std::span<const BufferPtr> inputs) {
  if (inputs.size() != plan.inputs.size())
    return invalid_argument(
        "the plan takes {} inputs, but {} were given; pass one buffer for each, in the plan's order",
        plan.inputs.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = plan.inputs[i];
    if (!inputs[i])
      return invalid_argument("input {} has no buffer; pass one of {} bytes ({} elements of {})", i, spec.bytes(),
                              spec.elements, name(spec.dtype));
    if (inputs[i]->bytes() != spec.bytes())
      return invalid_argument(
          "input {} has {} bytes, but the plan takes {} ({} elements of {}); pass a buffer of that size", i,
          inputs[i]->bytes(), spec.bytes(), spec.elements, name(spec.dtype));
  }
  return ok_status();
}

Status check_variables(const Plan& plan, std::span<const std::int64_t> variables) {
  if (variables.size() != plan.variables.size())
    return invalid_argument("the plan takes {} variables, but {} were given; bind each, in the plan's order",
                            plan.variables.size(), variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto [min, max] = plan.variables[i];
    if (variables[i] < min || variables[i] > max)
      return invalid_argument("variable {} is {}, outside its bounds {}..{}; bind a value between them", i,
                              variables[i], min, max);
  }
  return ok_status();
}

/// The memory of one run.
class Memory {
 public:
  static StatusOr<Memory> allocate(const Plan& plan, std::span<const BufferPtr> inputs, BufferPool& pool) {
    Memory memory(plan, inputs, pool.poisons());
    StatusOr<BufferPtr> scratch = pool.allocate(plan.scratch_bytes);
    if (!scratch.ok()) return scratch.status();
    memory.scratch_ = *std::move(scratch);
    for (const OutputSpec& spec : plan.outputs) {
      if (spec.alias_of_input >= 0) {
        check(static_cast<std::size_t>(spec.alias_of_input) < inputs.size(), "an output aliases no input of the plan");
        memory.outputs_.push_back(inputs[static_cast<std::size_t>(spec.alias_of_input)]);
        continue;
      }
      StatusOr<BufferPtr> output = pool.allocate(spec.tensor.bytes());
      if (!output.ok()) return output.status();
      memory.outputs_.push_back(*std::move(output));
    }
    return memory;
  }

  void* address(BufferRef ref) const {
    switch (ref.kind) {
      case BufferRef::Kind::kIn:
        check(ref.index < inputs_.size(), "a kernel reads an input that the plan has not");
        return inputs_[ref.index]->data();
      case BufferRef::Kind::kTmp: {
        check(ref.index < plan_->temps.size(), "a kernel uses a temporary that the plan has not");
        const TempSpec& temp = plan_->temps[ref.index];
        check(temp.offset <= plan_->scratch_bytes && temp.tensor.bytes() <= plan_->scratch_bytes - temp.offset,
              "a temporary lies outside the scratch memory");
        return static_cast<std::byte*>(scratch_->data()) + temp.offset;
      }
      case BufferRef::Kind::kOut:
        check(ref.index < outputs_.size(), "a kernel writes an output that the plan has not");
        return outputs_[ref.index]->data();
    }
    throw BrokenInvariant("a kernel parameter of unknown kind");
  }

  /// To be called before and after kernel `k`: a temporary has content from its first kernel to its last.
  void begin(std::uint32_t k) const {
    fill_temps_of(k, [k](const TempSpec& temp) { return temp.first == k; });
  }
  void end(std::uint32_t k) const {
    fill_temps_of(k, [k](const TempSpec& temp) { return temp.last == k; });
  }

  std::vector<BufferPtr> take_outputs() { return std::move(outputs_); }

 private:
  Memory(const Plan& plan, std::span<const BufferPtr> inputs, bool poisons)
      : plan_(&plan), inputs_(inputs), poisons_(poisons) {}

  void fill_temps_of(std::uint32_t k, const auto& wanted) const {
    if (!poisons_) return;
    for (const BufferRef ref : plan_->kernels[k].refs)
      if (ref.kind == BufferRef::Kind::kTmp && wanted(plan_->temps[ref.index]))
        fill_with_poison(address(ref), plan_->temps[ref.index].tensor.bytes());
  }

  const Plan* plan_;
  std::span<const BufferPtr> inputs_;
  bool poisons_;
  std::vector<BufferPtr> outputs_;
  BufferPtr scratch_;  // all temporaries, at the offsets of the plan
};

/// A kernel with its arguments.
struct Launch {
  KernelEntry entry;
  std::vector<void*> buffers;
  std::vector<std::int64_t> variables;

  void operator()(std::int64_t begin, std::int64_t end) const {
    const DefaultFpState state;
    entry(buffers.data(), variables.data(), begin, end);
    check(DefaultFpState::is_default(), "a kernel changed the floating-point state of its thread");
  }
};

/// Runs a kernel once; `took` says how long.
Status run(const KernelLaunch& kernel, const Launch& launch, ComputePool& threads, const Cancel& cancel,
           std::chrono::nanoseconds& took) {
  Status status;
  const Clock::time_point start = Clock::now();
  if (const std::int64_t grain = grain_of(kernel); grain < kernel.parallel)
    status = threads.parallel_for(kernel.parallel, grain, cancel, std::cref(launch));
  else
    launch(0, kernel.parallel);
  took = Clock::now() - start;
  return status;
}

}  // namespace

StatusOr<Execution> execute(const Plan& plan, std::span<const KernelEntry> entries, std::span<const BufferPtr> inputs,
                            std::span<const std::int64_t> variables, const ExecuteOptions& options, BufferPool& pool,
                            ComputePool& threads, const Cancel& cancel) {
  check(entries.size() == plan.programs.size(), "a plan runs with one entry point per program");
  if (Status status = check_inputs(plan, inputs); !status.ok()) return status;
  if (Status status = check_variables(plan, variables); !status.ok()) return status;
  if (Status status = cancel.status(); !status.ok()) return status;
  StatusOr<Memory> memory = Memory::allocate(plan, inputs, pool);
  if (!memory.ok()) return memory.status();

  Execution execution;
  Launch launch;
  for (std::uint32_t k = 0; k < plan.kernels.size(); k++) {
    const KernelLaunch& kernel = plan.kernels[k];
    if (Status status = cancel.status(); !status.ok()) return status;
    check(kernel.program < entries.size(), "a kernel runs a program that the plan has not");
    launch.entry = entries[kernel.program];
    launch.buffers.clear();
    for (const BufferRef ref : kernel.refs) launch.buffers.push_back(memory->address(ref));
    launch.variables.clear();
    for (const std::uint32_t variable : kernel.variables) {
      check(variable < variables.size(), "a kernel reads a variable that the plan has not");
      launch.variables.push_back(variables[variable]);
    }
    memory->begin(k);
    KernelTiming& timing = execution.timings.emplace_back();
    Status status = run(kernel, launch, threads, cancel, timing.run);
    if (status.ok() && options.repeat_kernels) status = run(kernel, launch, threads, cancel, timing.again);
    if (!status.ok()) return status;
    memory->end(k);
  }
  execution.outputs = memory->take_outputs();
  return execution;
}

}  // namespace uop
