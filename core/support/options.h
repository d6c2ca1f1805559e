// Options: one table (options.inc) from which flags, config files, the environment, requests and the structure key
// are derived. Nothing else reads an option from anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/status.h"

namespace uop {

/// What changes the program that comes out; every field is part of the structure key.
struct CompileOptions {
#define COMPILE_OPTION(field, type, value, check, help) type field = value;
#define ENGINE_OPTION(field, type, value, check, help)
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  bool operator==(const CompileOptions&) const = default;
};

/// How one engine (a server or an embedded client) runs; no field is part of the structure key.
struct EngineOptions {
#define COMPILE_OPTION(field, type, value, check, help)
#define ENGINE_OPTION(field, type, value, check, help) type field = value;
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
};

/// A row of the table, for help texts, flags and documentation.
struct OptionRow {
  std::string name;           // as in the table: "cache_dir"
  std::string type;           // "integer", "bool" or "text"
  std::string default_value;  // as text
  std::string check;          // "lo..hi", "a|b|c" or ""
  std::string help;
  bool in_key;
};

/// All rows, compile options first, in the order of the table.
const std::vector<OptionRow>& option_rows();

/// Sets one option from text. Errors: INVALID_ARGUMENT for an unknown name, or a value that does not pass the row's
/// check; the message names the option, the value and what is allowed. `name` may use '-' for '_'.
Status set_option(CompileOptions& options, std::string_view name, std::string_view value);
Status set_option(EngineOptions& options, std::string_view name, std::string_view value);

/// The value of each compile option as "name=value" joined by ';' in table order: the options' part of the key.
std::string key_text(const CompileOptions& options);

/// The options as (name, value) pairs in table order.
std::vector<std::pair<std::string, std::string>> to_pairs(const CompileOptions& options);
std::vector<std::pair<std::string, std::string>> to_pairs(const EngineOptions& options);

/// Reads UOPD_<NAME> for every row from the environment. The only caller of getenv is core/support/environment.cpp.
Status options_from_environment(CompileOptions& compile, EngineOptions& engine);

}  // namespace uop
