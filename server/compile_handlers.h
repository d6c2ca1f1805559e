// Compile and Explain. Both look up or make a plan, so they run on the compile queue.
#pragma once

#include "server/call.h"
#include "uopd/v1/service.pb.h"

namespace uop {

Status compile(Call& call, const uopd::v1::CompileRequest& request, uopd::v1::CompileReply& reply);
Status explain(Call& call, const uopd::v1::ExplainRequest& request, uopd::v1::ExplainReply& reply);

using OptionMap = google::protobuf::Map<std::string, std::string>;

/// The server's compile options with those of a request on top. Errors: INVALID_ARGUMENT for an unknown name or value.
StatusOr<CompileOptions> request_options(const ServerState& state, const OptionMap& given);

/// The id that a client gives for a plan. Errors: INVALID_ARGUMENT for what can't be one, or for options beside it.
StatusOr<Digest> plan_id(const std::string& text, const OptionMap& options);

/// The plan that a client names. Errors: plan_id's; NOT_FOUND.
StatusOr<CompiledPlanPtr> find_plan(const ServerState& state, const std::string& id, const OptionMap& options);

uopd::v1::PlanOrigin to_message(PlanOrigin origin);

}  // namespace uop
