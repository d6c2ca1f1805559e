#include "client/cpp/replies.h"

#include "core/wire/plan_codec.h"

namespace uop {
namespace {

using std::chrono::nanoseconds;
namespace proto = uopd::v1;

FoundIn found_in(proto::PlanOrigin origin) {
  if (origin == proto::MEMORY) return FoundIn::kMemory;
  return origin == proto::STORE ? FoundIn::kStore : FoundIn::kCompiled;
}

void add_rows(const google::protobuf::Message& message, DeviceStatus& rows) {
  using Field = google::protobuf::FieldDescriptor;
  const auto& values = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const Field* field = message.GetDescriptor()->field(i);
    switch (field->cpp_type()) {
      case Field::CPPTYPE_MESSAGE: add_rows(values.GetMessage(message, field), rows); break;
      case Field::CPPTYPE_STRING: rows.emplace_back(field->name(), values.GetString(message, field)); break;
      case Field::CPPTYPE_BOOL:
        rows.emplace_back(field->name(), values.GetBool(message, field) ? "true" : "false");
        break;
      case Field::CPPTYPE_UINT32:
        rows.emplace_back(field->name(), static_cast<double>(values.GetUInt32(message, field)));
        break;
      case Field::CPPTYPE_UINT64:
        rows.emplace_back(field->name(), static_cast<double>(values.GetUInt64(message, field)));
        break;
      case Field::CPPTYPE_DOUBLE: rows.emplace_back(field->name(), values.GetDouble(message, field)); break;
      default: break;
    }
  }
}

}  // namespace

proto::TensorSpec message_of(const TensorSpec& tensor) {
  proto::TensorSpec message;
  message.set_dtype(static_cast<proto::DType>(tensor.dtype));  // the enumerator is the wire number
  message.set_elements(tensor.elements);
  return message;
}

StatusOr<TensorSpec> tensor_of(const proto::TensorSpec& message) {
  const auto dtype = dtype_of_number(static_cast<std::uint32_t>(message.dtype()));
  if (!dtype)
    return error(StatusCode::kInternal, "the server names dtype {}, which this client does not know; update the client",
                 static_cast<int>(message.dtype()));
  return TensorSpec{*dtype, message.elements()};
}

StatusOr<CompileReport> report_of(const proto::CompileReply& reply) {
  StatusOr<Plan> plan = decode_plan(reply.plan());
  if (!plan.ok()) return plan.status();
  return CompileReport{.plan_id = reply.plan_id(),
                       .found_in = found_in(reply.origin()),
                       .why = reply.why(),
                       .schedule = nanoseconds(reply.schedule_ns()),
                       .kernels_compiled = reply.kernels_compiled(),
                       .input_slots = {reply.input_slots().begin(), reply.input_slots().end()},
                       .variable_slots = {reply.variable_slots().begin(), reply.variable_slots().end()},
                       .root_outputs = {reply.root_outputs().begin(), reply.root_outputs().end()},
                       .plan = *std::move(plan)};
}

StatusOr<ExplainReport> report_of(const proto::ExplainReply& reply) {
  StatusOr<CompileReport> compilation = report_of(reply.compilation());
  if (!compilation.ok()) return compilation.status();
  ExplainReport report{*std::move(compilation), {}};
  for (const proto::StageText& stage : reply.stages()) report.stages.push_back({stage.name(), stage.text()});
  return report;
}

RunReport report_of(const proto::Report& reply) {
  RunReport report{.found_in = found_in(reply.origin()),
                   .queue = nanoseconds(reply.queue_ns()),
                   .schedule = nanoseconds(reply.schedule_ns()),
                   .run = nanoseconds(reply.run_ns()),
                   .kernels = reply.kernels(),
                   .kernels_compiled = reply.kernels_compiled(),
                   .sources = {reply.sources().begin(), reply.sources().end()}};
  for (const proto::KernelRun& kernel : reply.kernel_runs())
    report.kernel_runs.push_back(
        {kernel.name(), nanoseconds(kernel.ns()), nanoseconds(kernel.again_ns()), kernel.flops(), kernel.bytes()});
  return report;
}

DeviceStatus report_of(const proto::StatusReply& reply) {
  DeviceStatus rows;
  add_rows(reply, rows);
  return rows;
}

}  // namespace uop
