// What a process holds of the system, to see that it reaches a plateau.
//
// `vitals` is what others call.
#pragma once

#include <cstdint>
#include <string>

namespace uop {

struct Vitals {
  std::int64_t resident_kib = 0;
  std::int64_t heap_kib = 0;  // handed out by malloc and not given back; 0 under sanitizers, which bring their own
  std::int64_t descriptors = 0;
  std::int64_t mappings = 0;
  std::int64_t threads = 0;
  std::int64_t children = 0;  // running or not yet reaped
};

/// Of this process, now.
Vitals vitals();

std::string to_text(const Vitals& v);

/// How much more there may be of each without being a leak.
struct Slack {
  std::int64_t resident_kib;
  std::int64_t heap_kib;
  std::int64_t mappings;
};

/// What grew from `before` to `after` by more than the slack, or "". Descriptors and threads must not grow at all;
/// there must be no child.
std::string growth(const Vitals& before, const Vitals& after, const Slack& slack);

}  // namespace uop
