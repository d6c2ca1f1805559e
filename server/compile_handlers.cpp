#include "server/compile_handlers.h"

#include "core/wire/graph_codec.h"
#include "core/wire/plan_codec.h"

namespace uop {
namespace {

void fill(const Compilation& c, uopd::v1::CompileReply& reply) {
  reply.set_plan_id(c.plan->id.hex());
  reply.mutable_input_slots()->Assign(c.binding.inputs.begin(), c.binding.inputs.end());
  reply.mutable_variable_slots()->Assign(c.binding.variables.begin(), c.binding.variables.end());
  reply.mutable_root_outputs()->Assign(c.binding.roots.begin(), c.binding.roots.end());
  reply.set_origin(to_message(c.origin));
  reply.set_why(c.why);
  reply.set_schedule_ns(static_cast<std::uint64_t>(c.schedule_time.count()));
  reply.set_kernels_compiled(c.kernels_compiled);
  *reply.mutable_plan() = encode_plan(c.plan->plan, /*with_sources=*/false);
}

StatusOr<Explanation> explanation(const Call& call, const uopd::v1::ExplainRequest& request) {
  Engine& engine = *call.state().engine;
  switch (request.program_case()) {
    case uopd::v1::ExplainRequest::kGraph: {
      const StatusOr<CompileOptions> options = request_options(call.state(), request.options());
      if (!options.ok()) return options.status();
      const StatusOr<RootedGraph> graph = decode_graph(request.graph());
      if (!graph.ok()) return graph.status();
      return engine.explain(*graph, *options, call.cancel());
    }
    case uopd::v1::ExplainRequest::kPlanId: {
      const StatusOr<CompiledPlanPtr> plan = find_plan(call.state(), request.plan_id(), request.options());
      if (!plan.ok()) return plan.status();
      return engine.explain(*plan, call.cancel());
    }
    case uopd::v1::ExplainRequest::PROGRAM_NOT_SET: break;
  }
  return invalid_argument("program: there is none; give a graph or a plan_id");
}

}  // namespace

uopd::v1::PlanOrigin to_message(PlanOrigin origin) {
  switch (origin) {
    case PlanOrigin::kMemory: return uopd::v1::MEMORY;
    case PlanOrigin::kStore: return uopd::v1::STORE;
    case PlanOrigin::kCompiled: return uopd::v1::COMPILED;
  }
  return uopd::v1::PLAN_ORIGIN_UNSPECIFIED;
}

StatusOr<CompileOptions> request_options(const ServerState& state, const OptionMap& given) {
  CompileOptions options = state.options.compile;
  for (const auto& [name, value] : given)
    if (const Status set = set_option(options, name, value); !set.ok()) return set;
  return options;
}

StatusOr<Digest> plan_id(const std::string& text, const OptionMap& options) {
  if (!options.empty())
    return invalid_argument("options: a plan already has its options; give them with a graph, or leave them out");
  const std::optional<Digest> id = Digest::from_hex(text);
  if (!id)
    return invalid_argument("plan_id: '{}' is not 64 hexadecimal digits; give the plan_id of a CompileReply",
                            text.substr(0, 80));
  return *id;
}

StatusOr<CompiledPlanPtr> find_plan(const ServerState& state, const std::string& id, const OptionMap& options) {
  const StatusOr<Digest> digest = plan_id(id, options);
  if (!digest.ok()) return digest.status();
  return state.engine->find(*digest);
}

Status compile(Call& call, const uopd::v1::CompileRequest& request, uopd::v1::CompileReply& reply) {
  const StatusOr<CompileOptions> options = request_options(call.state(), request.options());
  if (!options.ok()) return options.status();
  const StatusOr<RootedGraph> graph = decode_graph(request.graph());
  if (!graph.ok()) return graph.status();
  const StatusOr<Compilation> compilation = call.state().engine->compile(*graph, *options, call.cancel());
  if (!compilation.ok()) return compilation.status();
  fill(*compilation, reply);
  return ok_status();
}

Status explain(Call& call, const uopd::v1::ExplainRequest& request, uopd::v1::ExplainReply& reply) {
  StatusOr<Explanation> result = explanation(call, request);
  if (!result.ok()) return result.status();
  fill(result->compilation, *reply.mutable_compilation());
  for (StageText& stage : result->stages) {
    auto& message = *reply.add_stages();
    message.set_name(std::move(stage.name));
    message.set_text(std::move(stage.text));
  }
  return ok_status();
}

}  // namespace uop
