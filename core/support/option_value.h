// The values of options, from text and as text: what every table of options (core/support/options.inc,
// server/server_options.inc) makes of its rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/support/status.h"

namespace uop {

std::string option_text(std::int64_t value);
std::string option_text(bool value);
std::string option_text(const std::string& value);

/// "integer", "bool" or "text".
std::string option_type(std::int64_t);
std::string option_type(bool);
std::string option_type(const std::string&);

/// Sets `out` to what `text` says. `check` is "lo..hi" (either may be left out), "a|b|c" or "" (any). Errors:
/// INVALID_ARGUMENT that names the option, the text and what is allowed; `out` is then as before.
Status assign_option(std::string_view name, std::string_view check, std::string_view text, std::int64_t& out);
Status assign_option(std::string_view name, std::string_view check, std::string_view text, bool& out);
Status assign_option(std::string_view name, std::string_view check, std::string_view text, std::string& out);

/// The variable of the environment for the option: UOPD_NAME.
std::string option_variable(std::string_view name);

/// Whether `given` names the option `row`; it may use '-' for '_'.
bool is_option(std::string_view row, std::string_view given);

}  // namespace uop
