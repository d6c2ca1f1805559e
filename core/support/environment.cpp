#include "core/support/environment.h"

#include <unistd.h>

#include <cstdlib>

namespace uop {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string default_cache_dir() {
  if (const auto xdg = environment("XDG_CACHE_HOME"); xdg && !xdg->empty()) return *xdg + "/uopd";
  if (const auto home = environment("HOME"); home && !home->empty()) return *home + "/.cache/uopd";
  return "/tmp/uopd-" + std::to_string(getuid());
}

}  // namespace uop
