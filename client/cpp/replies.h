// A server's replies as the plain data of report.h.
#pragma once

#include "client/cpp/report.h"
#include "core/support/status.h"
#include "uopd/v1/service.pb.h"

namespace uop {

uopd::v1::TensorSpec message_of(const TensorSpec& tensor);
/// Errors of all: INTERNAL (DATA_LOSS for a plan) where the server says what this client does not know.
StatusOr<TensorSpec> tensor_of(const uopd::v1::TensorSpec& message);
StatusOr<CompileReport> report_of(const uopd::v1::CompileReply& reply);
StatusOr<ExplainReport> report_of(const uopd::v1::ExplainReply& reply);
RunReport report_of(const uopd::v1::Report& reply);
/// Every field of the message, whatever a later server adds; those of a part follow in its place.
DeviceStatus report_of(const uopd::v1::StatusReply& reply);

}  // namespace uop
