// The RPCs as an enum, so that whatever counts them has a fixed set of names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace uop {

enum class Method : std::uint8_t {
  kHello,
  kRenew,
  kCompile,
  kExecute,
  kPutBuffer,
  kGetBuffer,
  kFreeBuffers,
  kListBuffers,
  kExplain,
  kStatus
};

inline constexpr std::array<std::string_view, 10> kMethodNames = {
    "Hello",     "Renew",       "Compile",     "Execute", "PutBuffer",
    "GetBuffer", "FreeBuffers", "ListBuffers", "Explain", "Status"};

inline std::string_view name(Method method) {
  return kMethodNames[static_cast<std::size_t>(method)];
}

}  // namespace uop
