// Ids of sessions and buffers: knowing one is the right to use it, so they can't be guessed.
#pragma once

#include <string>

#include "core/support/status.h"

namespace uop {

/// 128 random bits as 32 hexadecimal digits. Errors: INTERNAL where the system has no randomness to give.
StatusOr<std::string> random_id();

}  // namespace uop
