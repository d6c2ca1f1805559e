// The inputs of an Execute: from buffer ids and inline bytes to memory in the order that the plan takes.
#pragma once

#include <vector>

#include "core/engine.h"
#include "server/call.h"
#include "uopd/v1/service.pb.h"

namespace uop {

class ExecuteInputs {
 public:
  /// Looks up the buffers and keeps them. `request` must outlive this. Errors: NOT_FOUND for a buffer,
  /// RESOURCE_EXHAUSTED for inline bytes over the limit or more inputs or variables than there are slots, and
  /// Call::session's.
  Status accept(const Call& call, const uopd::v1::ExecuteRequest& request);

  /// Memory for each input of the plan; inline bytes are copied to the pool. Errors: INVALID_ARGUMENT for an input that
  /// is missing, or of another dtype or size; RESOURCE_EXHAUSTED from the pool.
  StatusOr<std::vector<BufferPtr>> bind(const Call& call, const Plan& plan, const Binding& binding) const;

 private:
  const uopd::v1::ExecuteRequest* request_ = nullptr;
  std::vector<StoredBuffer> stored_;  // one per input of the request; no memory where that is inline
};

/// The values of the plan's variables. Errors: INVALID_ARGUMENT for one that is missing.
StatusOr<std::vector<std::int64_t>> bind_variables(const uopd::v1::ExecuteRequest& request, const Binding& binding);

}  // namespace uop
