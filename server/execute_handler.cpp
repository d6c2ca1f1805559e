#include "server/execute_handler.h"

#include <memory>
#include <numeric>
#include <optional>

#include "core/wire/graph_codec.h"
#include "server/compile_handlers.h"
#include "server/execute_inputs.h"
#include "server/execute_report.h"
#include "server/tensor_message.h"

namespace uop {
namespace {

constexpr std::uint32_t kMaxVerbosity = 4;

/// One Execute between its stages.
class Execute {
 public:
  Execute(const uopd::v1::ExecuteRequest& request, uopd::v1::ExecuteReply& reply) : request_(request), reply_(reply) {}

  /// What can be said without the plan, so that a request that can't succeed takes no place in a queue. The buffers are
  /// held from here on: freeing their ids does not disturb the run.
  Status accept(const Call& call) {
    if (request_.program_case() == uopd::v1::ExecuteRequest::PROGRAM_NOT_SET)
      return invalid_argument("program: there is none; give a graph or a plan_id");
    if (request_.verbosity() > kMaxVerbosity)
      return invalid_argument("verbosity: {} is not a level; give 0..{}", request_.verbosity(), kMaxVerbosity);
    if (!request_.inline_outputs()) {
      const StatusOr<Session*> session = call.session();  // the outputs' owner
      if (!session.ok()) return session.status();
    }
    if (const Status s = inputs_.accept(call, request_); !s.ok()) return s;
    return request_.has_plan_id() ? look_up(call) : ok_status();
  }

  /// Whether the plan, or a kernel of it, has to be fetched or made first.
  bool is_missing() const { return !loaded_; }

  /// Makes the graph's plan, or fetches the one named, with all its kernels.
  Status prepare(const Call& call) {
    if (const Status s = request_.has_plan_id() ? find(call) : compile(call); !s.ok()) return s;
    StatusOr<LoadedPlan> loaded = call.state().engine->load(compilation_.plan, call.cancel());
    if (!loaded.ok()) return loaded.status();
    compilation_.kernels_compiled += loaded->kernels_compiled;
    loaded_ = *std::move(loaded);
    return ok_status();
  }

  Status run(const Call& call) {
    const Plan& plan = compilation_.plan->plan;
    if (const Status s = check_inline_outputs(call); !s.ok()) return s;
    const StatusOr<std::vector<std::int64_t>> variables = bind_variables(request_, compilation_.binding);
    if (!variables.ok()) return variables.status();
    const StatusOr<std::vector<BufferPtr>> inputs = inputs_.bind(call, plan, compilation_.binding);
    if (!inputs.ok()) return inputs.status();
    const StatusOr<RunResult> result = call.state().engine->run(
        compilation_.plan, *inputs, *variables, {.repeat_kernels = request_.verbosity() >= 3}, call.cancel());
    if (!result.ok()) return result.status();
    // The caller has gone: no buffer is left behind that nobody knows of.
    if (const Status s = call.cancel().status(); !s.ok()) return s;
    if (const Status s = add_outputs(call, result->execution); !s.ok()) return s;
    reply_.set_plan_id(compilation_.plan->id.hex());
    if (request_.verbosity() > 0)
      fill_report(compilation_, *result, call.queued(), request_.verbosity(), *reply_.mutable_report());
    return ok_status();
  }

 private:
  Status compile(const Call& call) {
    const ServerState& state = call.state();
    const StatusOr<CompileOptions> options = request_options(state, request_.options());
    if (!options.ok()) return options.status();
    const StatusOr<RootedGraph> graph = decode_graph(request_.graph());
    if (!graph.ok()) return graph.status();
    StatusOr<Compilation> compilation = state.engine->compile(*graph, *options, call.cancel());
    if (!compilation.ok()) return compilation.status();
    compilation_ = *std::move(compilation);
    return ok_status();
  }

  /// The plan that is named, if it is at hand.
  Status look_up(const Call& call) {
    const Clock::time_point begin = Clock::now();
    const StatusOr<Digest> id = plan_id(request_.plan_id(), request_.options());
    if (!id.ok()) return id.status();
    loaded_ = call.state().engine->find_loaded(*id);
    return loaded_ ? use(loaded_->plan, begin) : ok_status();
  }

  Status find(const Call& call) {
    const Clock::time_point begin = Clock::now();
    StatusOr<CompiledPlanPtr> plan = find_plan(call.state(), request_.plan_id(), request_.options());
    return plan.ok() ? use(*plan, begin) : plan.status();
  }

  /// A plan's own order of inputs, variables and outputs.
  Status use(const CompiledPlanPtr& plan, Clock::time_point begin) {
    const Plan& p = plan->plan;
    if (const Status s = check_count("inputs", p.inputs.size(), request_.inputs_size()); !s.ok()) return s;
    if (const Status s = check_count("variables", p.variables.size(), request_.variables_size()); !s.ok()) return s;
    Binding& binding = compilation_.binding;
    binding.inputs.resize(p.inputs.size());
    binding.variables.resize(p.variables.size());
    binding.roots.resize(p.outputs.size());
    std::iota(binding.inputs.begin(), binding.inputs.end(), 0);
    std::iota(binding.variables.begin(), binding.variables.end(), 0);
    std::iota(binding.roots.begin(), binding.roots.end(), 0);
    compilation_.plan = plan;
    compilation_.origin = PlanOrigin::kMemory;
    compilation_.schedule_time = Clock::now() - begin;
    return ok_status();
  }

  static Status check_count(std::string_view what, std::size_t expected, int given) {
    if (static_cast<std::size_t>(given) == expected) return ok_status();
    return invalid_argument("{0}: the plan takes {1}, the request has {2}; give {1}, in the plan's order", what,
                            expected, given);
  }

  Status check_inline_outputs(const Call& call) const {
    if (!request_.inline_outputs()) return ok_status();
    std::uint64_t bytes = 0;
    for (const std::uint32_t root : compilation_.binding.roots)
      bytes += compilation_.plan->plan.outputs[root].tensor.bytes();
    const std::uint64_t limit = call.state().limits.inline_bytes;
    if (bytes <= limit) return ok_status();
    return error(StatusCode::kResourceExhausted,
                 "inline_outputs: the outputs take {} bytes, inline at most {}; leave inline_outputs out and read them "
                 "by GetBuffer",
                 bytes, limit);
  }

  /// Outputs one per root (of a plan: one per output). Roots that are one output share its memory.
  Status add_outputs(const Call& call, const Execution& execution) {
    for (const std::uint32_t root : compilation_.binding.roots) {
      const BufferPtr& memory = execution.outputs[root];
      const TensorSpec& tensor = compilation_.plan->plan.outputs[root].tensor;
      auto& output = *reply_.add_outputs();
      *output.mutable_tensor() = to_message(tensor);
      if (request_.inline_outputs()) {
        output.set_inline_bytes(memory->data(), tensor.bytes());
        continue;
      }
      const StatusOr<Session*> session = call.session();
      if (!session.ok()) return session.status();
      StatusOr<std::string> id = (*session)->add({memory, tensor});
      if (!id.ok()) {
        for (const auto& added : reply_.outputs()) (*session)->free(added.buffer());
        return id.status();
      }
      output.set_buffer(*std::move(id));
    }
    return ok_status();
  }

  const uopd::v1::ExecuteRequest& request_;
  uopd::v1::ExecuteReply& reply_;
  ExecuteInputs inputs_;
  Compilation compilation_{};
  std::optional<LoadedPlan> loaded_;
};

}  // namespace

std::vector<Stage> execute_stages(ServerState& state, const uopd::v1::ExecuteRequest& request,
                                  uopd::v1::ExecuteReply& reply) {
  const auto execute = std::make_shared<Execute>(request, reply);
  return {{nullptr, [execute](Call& call) { return execute->accept(call); }},
          {state.compiles.get(), [execute](Call& call) { return execute->prepare(call); },
           [execute] { return execute->is_missing(); }},
          {state.runs.get(), [execute](Call& call) { return execute->run(call); }}};
}

}  // namespace uop
