// Statuses on their way to the client.
#pragma once

#include <grpcpp/support/status.h>

#include "core/support/status.h"

namespace uop {

/// Code for code; a long message is cut so that it fits the trailers any client accepts.
grpc::Status to_grpc(const Status& status);

}  // namespace uop
