#include "client/cpp/remote.h"

#include <algorithm>
#include <set>

#include "client/cpp/connection.h"
#include "client/cpp/known_plans.h"
#include "client/cpp/replies.h"
#include "core/wire/graph_codec.h"

namespace uop {
namespace {

namespace proto = uopd::v1;

struct RemoteBuffer final : DeviceBuffer {
  RemoteBuffer(std::shared_ptr<Connection> owner, TensorSpec spec, std::string buffer_id)
      : DeviceBuffer(spec), connection(std::move(owner)), id(std::move(buffer_id)) {}
  ~RemoteBuffer() override { connection->release(id); }
  std::shared_ptr<Connection> connection;
  std::string id;
};

template <class Request>
Request request_of(proto::Graph graph, const CompileOptions& options) {
  Request request;
  *request.mutable_graph() = std::move(graph);
  for (const auto& [option, value] : to_pairs(options)) (*request.mutable_options())[option] = value;
  return request;
}

class RemoteDevice final : public Device {
 public:
  explicit RemoteDevice(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  StatusOr<BufferHandle> put(std::span<const std::byte> bytes, TensorSpec tensor) override {
    StatusOr<std::string> id = connection_->put(bytes, message_of(tensor));
    if (!id.ok()) return id.status();
    return BufferHandle(std::make_shared<RemoteBuffer>(connection_, tensor, *std::move(id)));
  }

  StatusOr<std::vector<std::byte>> get(const BufferHandle& buffer) override {
    StatusOr<std::string> id = id_of(buffer);
    if (!id.ok()) return id.status();
    return connection_->get(*id, buffer->tensor().bytes());
  }

  StatusOr<RunOutcome> run(const RootedGraph& graph, std::span<const BufferHandle> inputs,
                           std::span<const std::int64_t> variables, const RunOptions& options) override {
    const proto::Graph message = encode_graph(graph.roots);
    const std::string key = key_text(options.compile) + '\0' + message.SerializeAsString();
    if (const KnownPlans::PlanPtr known = known_.find(key)) {
      StatusOr<RunOutcome> outcome = execute(*known, inputs, variables, options);
      if (outcome.status().code() != StatusCode::kNotFound) return outcome;
    }
    // Not known here, or not known there any more: the graph says it all again.
    StatusOr<CompileReport> plan = compile(message, options.compile, options.timeout);
    if (!plan.ok()) return plan.status();
    StatusOr<RunOutcome> outcome = execute(*plan, inputs, variables, options);
    if (!outcome.ok()) return outcome;
    outcome->report.found_in = plan->found_in;
    outcome->report.schedule += plan->schedule;
    outcome->report.kernels_compiled += plan->kernels_compiled;
    if (options.verbosity >= 4 && plan->found_in == FoundIn::kCompiled)
      if (const Status status = add_sources(plan->plan_id, outcome->report); !status.ok()) return status;
    plan->plan = {};
    known_.remember(key, std::make_shared<const CompileReport>(*std::move(plan)));
    return outcome;
  }

  StatusOr<CompileReport> compile(const RootedGraph& graph, const CompileOptions& options) override {
    return compile(encode_graph(graph.roots), options, std::nullopt);
  }

  StatusOr<ExplainReport> explain(const RootedGraph& graph, const CompileOptions& options) override {
    const auto request = request_of<proto::ExplainRequest>(encode_graph(graph.roots), options);
    StatusOr<proto::ExplainReply> reply = connection_->explain(request, std::nullopt);
    if (!reply.ok()) return reply.status();
    return report_of(*reply);
  }

  StatusOr<DeviceStatus> status() override {
    StatusOr<proto::StatusReply> reply = connection_->status();
    if (!reply.ok()) return reply.status();
    return report_of(*reply);
  }

  std::string name() const override { return connection_->address(); }

 private:
  StatusOr<std::string> id_of(const BufferHandle& buffer) const {
    const auto own = std::dynamic_pointer_cast<const RemoteBuffer>(buffer);
    if (!own || own->connection != connection_)
      return invalid_argument("a buffer of another device; put its bytes on {} first", name());
    return own->id;
  }

  StatusOr<CompileReport> compile(proto::Graph graph, const CompileOptions& options, Connection::Timeout timeout) {
    const auto request = request_of<proto::CompileRequest>(std::move(graph), options);
    StatusOr<proto::CompileReply> reply = connection_->compile(request, timeout);
    if (!reply.ok()) return reply.status();
    return report_of(*reply);
  }

  StatusOr<RunOutcome> execute(const CompileReport& plan, std::span<const BufferHandle> inputs,
                               std::span<const std::int64_t> variables, const RunOptions& options) {
    proto::ExecuteRequest request;
    request.set_plan_id(plan.plan_id);
    request.set_verbosity(static_cast<std::uint32_t>(std::max(1, options.verbosity)));  // 1: the totals
    for (const std::int64_t slot : plan.input_slots) {
      if (const Status given = check_given("BUFFER", slot, inputs.size()); !given.ok()) return given;
      StatusOr<std::string> id = id_of(inputs[static_cast<std::size_t>(slot)]);
      if (!id.ok()) return id.status();
      request.add_inputs()->set_buffer(*id);
    }
    for (const std::int64_t slot : plan.variable_slots) {
      if (const Status given = check_given("VARIABLE", slot, variables.size()); !given.ok()) return given;
      request.add_variables(variables[static_cast<std::size_t>(slot)]);
    }
    StatusOr<proto::ExecuteReply> reply = connection_->execute(request, options.timeout);
    if (!reply.ok()) return reply.status();

    // One handle for each output of the plan: equal roots share it.
    std::vector<BufferHandle> outputs;
    for (const proto::Output& output : reply->outputs()) {
      StatusOr<TensorSpec> tensor = tensor_of(output.tensor());
      if (!tensor.ok()) return tensor.status();
      outputs.push_back(std::make_shared<RemoteBuffer>(connection_, *tensor, output.buffer()));
    }
    RunOutcome outcome{{}, report_of(reply->report())};
    for (const std::uint32_t output : plan.root_outputs) {
      if (output >= outputs.size())
        return error(StatusCode::kInternal, "server {} sent {} outputs, but names output {}; report this", name(),
                     outputs.size(), output);
      outcome.outputs.push_back(outputs[output]);
    }
    return outcome;
  }

  Status add_sources(const std::string& plan_id, RunReport& report) {
    proto::ExplainRequest request;
    request.set_plan_id(plan_id);
    StatusOr<proto::ExplainReply> reply = connection_->explain(request, std::nullopt);
    if (!reply.ok()) return reply.status();
    StatusOr<ExplainReport> explanation = report_of(*reply);
    if (!explanation.ok()) return explanation.status();
    std::set<std::string> distinct;
    for (const StageListing& stage : explanation->stages)
      if (stage.pass() == kRenderPass && distinct.insert(stage.text).second) report.sources.push_back(stage.text);
    return ok_status();
  }

  std::shared_ptr<Connection> connection_;
  KnownPlans known_;
};

}  // namespace

StatusOr<std::shared_ptr<Device>> remote(const std::string& address) {
  StatusOr<std::shared_ptr<Connection>> connection = Connection::open(address);
  if (!connection.ok()) return connection.status();
  return remote(*std::move(connection));
}

std::shared_ptr<Device> remote(std::shared_ptr<Connection> connection) {
  return std::make_shared<RemoteDevice>(std::move(connection));
}

}  // namespace uop
