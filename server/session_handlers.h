// Hello, Renew, FreeBuffers, ListBuffers: what a client does with its session. All are look-ups; none waits.
#pragma once

#include "server/call.h"
#include "uopd/v1/service.pb.h"

namespace uop {

/// Protocol versions that this server speaks.
inline constexpr std::uint32_t kMinProtocol = 1;
inline constexpr std::uint32_t kMaxProtocol = 1;

Status hello(Call& call, const uopd::v1::HelloRequest& request, uopd::v1::HelloReply& reply);
Status renew(Call& call, uopd::v1::RenewReply& reply);
Status free_buffers(Call& call, const uopd::v1::FreeBuffersRequest& request, uopd::v1::FreeBuffersReply& reply);
Status list_buffers(Call& call, uopd::v1::ListBuffersReply& reply);

}  // namespace uop
