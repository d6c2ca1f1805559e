// What the server was told: flags, a config file, the environment, defaults, in this order of precedence.
//
// `parse_server_options` is what main calls.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/support/options.h"
#include "core/support/status.h"

namespace uop {

struct ServerOptions {
#define NUMBER(field, name, value, low, high, help) std::int64_t field = value;
#define TEXT(field, name, value, allowed, help) std::string field = value;
#include "server/server_options.inc"
#undef NUMBER
#undef TEXT
  CompileOptions compile;  // what a request gets that does not say otherwise
  EngineOptions engine;
};

/// Text for stdout instead of a server: --help, --version.
struct Printout {
  std::string text;
};

/// Errors: INVALID_ARGUMENT that names the flag, the file and line's key, or the variable, and what is allowed.
StatusOr<std::variant<ServerOptions, Printout>> parse_server_options(int argc, const char* const* argv);

}  // namespace uop
