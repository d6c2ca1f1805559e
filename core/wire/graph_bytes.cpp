#include "core/wire/graph_bytes.h"

#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "core/wire/graph_codec.h"
#include "uopd/v1/graph.pb.h"

namespace uop {
namespace {

using google::protobuf::internal::WireFormatLite;
using Message = uopd::v1::Graph;

constexpr std::size_t kMaxRootBytes = 5;  // of one root, as a varint

Status over_limit(std::string_view what, std::size_t limit) {
  return error(StatusCode::kResourceExhausted,
               "the graph has more than {} {}, which is the limit\nremedy: cut the program into several graphs", limit,
               what);
}

}  // namespace

Status check_graph_bytes(std::string_view bytes) {
  if (bytes.size() > kMaxGraphBytes) return over_limit("bytes", kMaxGraphBytes);  // more than an int, perhaps
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  return GraphBytes().add(in);
}

Status GraphBytes::add(google::protobuf::io::CodedInputStream& in) {
  if (const int length = in.BytesUntilLimit(); length > 0) bytes_ += static_cast<std::size_t>(length);
  if (bytes_ > kMaxGraphBytes) return over_limit("bytes", kMaxGraphBytes);
  while (const std::uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    const bool has_length = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    std::uint32_t length = 0;
    // What is cut or is no message is told by the parser, which comes no further than this does.
    if (has_length ? !in.ReadVarint32(&length) || !in.Skip(static_cast<int>(length))
                   : !WireFormatLite::SkipField(&in, tag))
      return ok_status();
    if (field == Message::kNodesFieldNumber && has_length) {
      if (length > kMaxNodeBytes)
        return invalid_argument(
            "node %{} has {} bytes, and none needs more than {}\nremedy: give it the sources and "
            "numbers that its op takes",
            nodes_, length, kMaxNodeBytes);
      if (++nodes_ > static_cast<std::size_t>(kMaxNodes)) return over_limit("nodes", kMaxNodes);
    } else if (field == Message::kRootsFieldNumber) {
      root_bytes_ += has_length ? length : kMaxRootBytes;
      if (root_bytes_ > kMaxRootBytes * static_cast<std::size_t>(kMaxRoots)) return over_limit("roots", kMaxRoots);
    } else {
      return invalid_argument("the graph has a field that is not known here\nremedy: {}", kUnknownFieldRemedy);
    }
  }
  return ok_status();
}

}  // namespace uop
