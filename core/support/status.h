// Errors. Two kinds: the user's (a Status with a code and a remedy in the message) and ours (a broken invariant).
//
// Every function that untrusted data, the file system or another process can make fail returns Status or StatusOr.
// `check` is for what must hold whatever the input: it throws BrokenInvariant, which core/engine turns into INTERNAL.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace uop {

using Status = absl::Status;
using StatusCode = absl::StatusCode;
template <class T>
using StatusOr = absl::StatusOr<T>;

inline Status ok_status() {
  return absl::OkStatus();
}

/// A Status of `code` whose message is the formatted text.
template <class... Args>
Status error(StatusCode code, fmt::format_string<Args...> text, Args&&... args) {
  return Status(code, fmt::format(text, std::forward<Args>(args)...));
}

template <class... Args>
Status invalid_argument(fmt::format_string<Args...> text, Args&&... args) {
  return error(StatusCode::kInvalidArgument, text, std::forward<Args>(args)...);
}

template <class... Args>
Status not_found(fmt::format_string<Args...> text, Args&&... args) {
  return error(StatusCode::kNotFound, text, std::forward<Args>(args)...);
}

/// The message as a standard string (Debian's abseil has a string_view of its own).
inline std::string message(const Status& status) {
  return std::string(status.message());
}

/// The code's name as gRPC spells it: "OK", "INVALID_ARGUMENT", …
inline std::string code_name(StatusCode code) {
  return absl::StatusCodeToString(code);
}

class BrokenInvariant : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws BrokenInvariant with the place of the call unless `ok`.
inline void check(bool ok, std::string_view what, std::source_location at = std::source_location::current()) {
  if (!ok) throw BrokenInvariant(fmt::format("{}:{}: {}", at.file_name(), at.line(), what));
}

}  // namespace uop
