// The limits of a graph, told from its bytes before anything is made of them: a message takes up to sixty times as many
// bytes as it had on the wire, so that 64 MiB of empty nodes would be 4 GiB before anyone counts them.
//
// `check_graph_bytes` is what others call; GraphBytes does it within a message that holds a graph (message_bytes.h).
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <string_view>

#include "core/support/status.h"

namespace uop {

/// Most bytes of a serialized graph: a million nodes take about 30 MiB.
inline constexpr std::size_t kMaxGraphBytes = std::size_t{64} << 20;
/// Most bytes of one node: three sources and 64 numbers of ten bytes, with a tag each, are 765.
inline constexpr std::size_t kMaxNodeBytes = 1024;

/// OK where the bytes keep kMaxGraphBytes, kMaxNodes, kMaxRoots and kMaxNodeBytes and have no field that is not known,
/// so that parsing them takes at most some 16 times as many bytes, and 200 a node. They may still not parse. Takes time
/// by the node and no memory. Errors: RESOURCE_EXHAUSTED over a limit, else INVALID_ARGUMENT, with a remedy.
Status check_graph_bytes(std::string_view bytes);

/// The same for a graph that may come in several pieces, which a parser joins.
class GraphBytes {
 public:
  /// The next piece: what `in` holds up to its limit.
  Status add(google::protobuf::io::CodedInputStream& in);

 private:
  std::size_t bytes_ = 0;
  std::size_t nodes_ = 0;
  std::size_t root_bytes_ = 0;
};

}  // namespace uop
