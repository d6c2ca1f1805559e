// The one exception of the client library. Tensor code reads like arithmetic, so its errors cannot be return values;
// everything below it (devices, files) returns Status.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "core/support/status.h"

namespace uop {

/// What was wrong, where, and what to do, as text; and its code: kInvalidArgument for operands that do not fit,
/// kUnavailable for a server that is not there, and so on.
class ClientError : public std::runtime_error {
 public:
  explicit ClientError(const Status& status) : std::runtime_error(message(status)), code_(status.code()) {}
  StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

/// The value, or a throw of ClientError.
template <class T>
T value_or_throw(StatusOr<T> result) {
  if (!result.ok()) throw ClientError(result.status());
  return *std::move(result);
}

template <class... Args>
[[noreturn]] void throw_invalid(fmt::format_string<Args...> text, Args&&... args) {
  throw ClientError(invalid_argument(text, std::forward<Args>(args)...));
}

}  // namespace uop
