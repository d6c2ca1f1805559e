#include "server/random_id.h"

#include <openssl/rand.h>

#include <array>

namespace uop {

StatusOr<std::string> random_id() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return error(StatusCode::kInternal, "the system has no random bytes for an id; try again later");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace uop
