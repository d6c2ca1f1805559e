#include "server/grpc_status.h"

namespace uop {
namespace {

/// gRPC clients refuse trailers over 8 KiB, and would then show that instead of the message.
constexpr std::size_t kMaxMessage = 6000;

/// Bytes of a character in the trailer, where all but plain ASCII is written as %XX.
std::size_t encoded_size(char c) {
  return c >= ' ' && c <= '~' && c != '%' ? 1 : 3;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string fitted(std::string text) {
  std::size_t encoded = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    encoded += encoded_size(text[i]);
    if (encoded <= kMaxMessage) continue;
    while (i > 0 && continues_character(text[i])) --i;
    text.resize(i);
    return text + " … (cut)";
  }
  return text;
}

}  // namespace

grpc::Status to_grpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), fitted(message(status))};
}

}  // namespace uop
