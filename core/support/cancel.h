// A request to stop: a stop token and a deadline that travel together through queue, compile and run.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "core/support/status.h"

namespace uop {

using Clock = std::chrono::steady_clock;

struct Cancel {
  std::stop_token token = {};                                // default: never stopped
  std::optional<Clock::time_point> deadline = std::nullopt;  // none: no limit

  /// CANCELLED or DEADLINE_EXCEEDED where the work should stop now, else OK. Cheap enough to ask between slices.
  Status status() const {
    if (token.stop_requested()) return error(StatusCode::kCancelled, "cancelled by the caller");
    if (deadline && Clock::now() >= *deadline)
      return error(StatusCode::kDeadlineExceeded, "the deadline has passed; give the request more time");
    return ok_status();
  }
};

}  // namespace uop
