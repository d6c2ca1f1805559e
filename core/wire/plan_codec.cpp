#include "core/wire/plan_codec.h"

#include <algorithm>

#include "core/ir/verify_plan.h"

namespace uop {
namespace {

void encode(const TensorSpec& spec, uopd::v1::TensorSpec& m) {
  m.set_dtype(static_cast<uopd::v1::DType>(spec.dtype));
  m.set_elements(spec.elements);
}

/// kNone, which verify_plan refuses, for an unknown dtype.
TensorSpec decode(const uopd::v1::TensorSpec& m) {
  return {dtype_of_number(static_cast<std::uint32_t>(m.dtype())).value_or(DType::kNone), m.elements()};
}

void encode(const KernelLaunch& kernel, uopd::v1::KernelLaunch& m) {
  m.set_name(kernel.name);
  m.set_program(kernel.program);
  for (const BufferRef ref : kernel.refs) {
    uopd::v1::BufferRef& r = *m.add_refs();
    r.set_kind(static_cast<uopd::v1::BufferRef::Kind>(ref.kind));
    r.set_index(ref.index);
  }
  m.mutable_variables()->Add(kernel.variables.begin(), kernel.variables.end());
  m.set_parallel(kernel.parallel);
  m.set_flops(kernel.flops);
  m.set_bytes(kernel.bytes);
}

KernelLaunch decode(const uopd::v1::KernelLaunch& m) {
  KernelLaunch kernel{m.name(), m.program(), {}, {}, m.parallel(), m.flops(), m.bytes()};
  // An unknown kind stays one: a number beyond the enum, which verify_plan refuses.
  for (const uopd::v1::BufferRef& r : m.refs())
    kernel.refs.push_back(
        {static_cast<BufferRef::Kind>(std::min(static_cast<std::uint32_t>(r.kind()), 255u)), r.index()});
  kernel.variables.assign(m.variables().begin(), m.variables().end());
  return kernel;
}

}  // namespace

uopd::v1::Plan encode_plan(const Plan& plan, bool with_sources) {
  uopd::v1::Plan m;
  for (const TensorSpec& input : plan.inputs) encode(input, *m.add_inputs());
  for (const VariableSpec& variable : plan.variables) {
    uopd::v1::VariableSpec& v = *m.add_variables();
    v.set_min(variable.min);
    v.set_max(variable.max);
  }
  for (const KernelProgram& program : plan.programs) m.add_programs(with_sources ? program.source : "");
  for (const KernelLaunch& kernel : plan.kernels) encode(kernel, *m.add_kernels());
  for (const TempSpec& temp : plan.temps) {
    uopd::v1::TempSpec& t = *m.add_temps();
    encode(temp.tensor, *t.mutable_tensor());
    t.set_first(temp.first);
    t.set_last(temp.last);
    t.set_offset(temp.offset);
  }
  for (const OutputSpec& output : plan.outputs) {
    uopd::v1::OutputSpec& o = *m.add_outputs();
    encode(output.tensor, *o.mutable_tensor());
    o.set_alias(output.alias_of_input >= 0);
    if (o.alias()) o.set_alias_of_input(static_cast<std::uint32_t>(output.alias_of_input));
  }
  m.set_scratch_bytes(plan.scratch_bytes);
  m.set_strict(plan.strict);
  return m;
}

StatusOr<Plan> decode_plan(const uopd::v1::Plan& m) {
  Plan plan;
  for (const uopd::v1::TensorSpec& input : m.inputs()) plan.inputs.push_back(decode(input));
  for (const uopd::v1::VariableSpec& v : m.variables()) plan.variables.push_back({v.min(), v.max()});
  for (const std::string& source : m.programs()) plan.programs.push_back({source});
  for (const uopd::v1::KernelLaunch& kernel : m.kernels()) plan.kernels.push_back(decode(kernel));
  for (const uopd::v1::TempSpec& t : m.temps())
    plan.temps.push_back({decode(t.tensor()), t.first(), t.last(), t.offset()});
  for (const uopd::v1::OutputSpec& o : m.outputs())
    plan.outputs.push_back({decode(o.tensor()), o.alias() ? std::int64_t{o.alias_of_input()} : -1});
  plan.scratch_bytes = m.scratch_bytes();
  plan.strict = m.strict();
  if (const Status verified = verify_plan(plan); !verified.ok()) return verified;
  return plan;
}

}  // namespace uop
