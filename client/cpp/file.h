// Whole files.
#pragma once

#include <string>
#include <string_view>

#include "core/support/status.h"

namespace uop {

/// Errors: NOT_FOUND with the path and the reason.
StatusOr<std::string> read_file(const std::string& path);
/// Replaces the file. Errors: FAILED_PRECONDITION with the path and the reason.
Status write_file(const std::string& path, std::string_view content);

}  // namespace uop
