// What parsing a request would take, told from its bytes before anything is made of them: an empty field of two bytes
// becomes up to a hundred in memory, so that one message could fill it.
//
// `check_message_bytes` is what others call.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>

#include "core/ir/argument.h"
#include "core/support/status.h"

namespace uop {

/// Most fields of a message outside of its graph, each element of a list counted: an Execute with an input and a
/// variable for every slot has three for each.
inline constexpr std::size_t kMaxFields = 4 * std::size_t{kMaxSlot};
/// Most fields of a message that are not known here; they are skipped, but kept.
inline constexpr std::size_t kMaxUnknownFields = 1000;

/// OK where the bytes keep kMaxFields, kMaxUnknownFields and, in every graph, graph_bytes.h, so that parsing them as
/// `type` takes what they hold and about a hundred bytes a field. They may still not parse. Takes time by the field and
/// no memory. Errors: RESOURCE_EXHAUSTED over a limit, INVALID_ARGUMENT for what no client of ours sends; with a
/// remedy.
Status check_message_bytes(google::protobuf::io::ZeroCopyInputStream& bytes, const google::protobuf::Descriptor& type);

}  // namespace uop
