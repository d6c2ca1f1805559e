#include "core/wire/message_bytes.h"

#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "core/wire/graph_bytes.h"
#include "core/wire/graph_codec.h"

namespace uop {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

class Walk {
 public:
  explicit Walk(google::protobuf::io::ZeroCopyInputStream& bytes) : in_(&bytes) {}

  /// A message up to the limit of the stream. What is cut or is no message is told by the parser, which comes no
  /// further than this does. Calls itself as deep as message types hold each other, which is three.
  Status message(const Descriptor& type) {
    while (const std::uint32_t tag = in_.ReadTag()) {
      if (const Status s = count(); !s.ok()) return s;
      const FieldDescriptor* const field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      const WireFormatLite::WireType wire = WireFormatLite::GetTagWireType(tag);
      if (wire == WireFormatLite::WIRETYPE_START_GROUP)
        return invalid_argument("the message has a group, and this protocol has none\nremedy: {}", kUnknownFieldRemedy);
      if (!field && ++unknown_ > kMaxUnknownFields)
        return invalid_argument("the message has more than {} fields that are not known here\nremedy: {}",
                                kMaxUnknownFields, kUnknownFieldRemedy);
      if (!field || wire != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&in_, tag)) return ok_status();
        continue;
      }
      std::uint32_t length = 0;
      if (!in_.ReadVarint32(&length)) return ok_status();
      const auto outer = in_.PushLimit(static_cast<int>(length));
      if (const Status s = content(*field); !s.ok()) return s;
      if (const int rest = in_.BytesUntilLimit(); rest > 0 && !in_.Skip(rest)) return ok_status();
      in_.PopLimit(outer);
    }
    return ok_status();
  }

 private:
  Status count() {
    if (++fields_ <= kMaxFields) return ok_status();
    return error(StatusCode::kResourceExhausted,
                 "the message has more than {} fields, which is the limit\nremedy: send less in one call", kMaxFields);
  }

  /// What lies between here and the limit, as the value of `field`.
  Status content(const FieldDescriptor& field) {
    if (const Descriptor* const type = field.message_type())
      return type == uopd::v1::Graph::descriptor() ? graph_.add(in_) : message(*type);
    if (!field.is_packable()) return ok_status();
    // Elements of a list: varints, or at any rate no more of them than varints of one byte.
    std::uint64_t element = 0;
    const bool fixed = WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field.type())) !=
                       WireFormatLite::WIRETYPE_VARINT;
    while (in_.BytesUntilLimit() > 0 && (fixed ? in_.Skip(1) : in_.ReadVarint64(&element)))
      if (const Status s = count(); !s.ok()) return s;
    return ok_status();
  }

  google::protobuf::io::CodedInputStream in_;
  GraphBytes graph_;
  std::size_t fields_ = 0;
  std::size_t unknown_ = 0;
};

}  // namespace

Status check_message_bytes(google::protobuf::io::ZeroCopyInputStream& bytes, const Descriptor& type) {
  return Walk(bytes).message(type);
}

}  // namespace uop
