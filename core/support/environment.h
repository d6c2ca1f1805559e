// The process environment; the one place that reads it.
#pragma once

#include <optional>
#include <string>

namespace uop {

/// The value of a variable, or nothing where it is not set. Call it at start-up only.
std::optional<std::string> environment(const std::string& name);

/// The directory for caches where none is configured: $XDG_CACHE_HOME/uopd, else $HOME/.cache/uopd, else a directory
/// of this user below /tmp.
std::string default_cache_dir();

}  // namespace uop
