// Status: what the server is and how it does.
#pragma once

#include "server/call.h"
#include "uopd/v1/service.pb.h"

namespace uop {

Status server_status(Call& call, uopd::v1::StatusReply& reply);

/// The machine that kernels are made for; part of Hello too.
void set_target(const ServerState& state, uopd::v1::Target& target);

}  // namespace uop
