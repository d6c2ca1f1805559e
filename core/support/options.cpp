#include "core/support/options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "core/support/environment.h"

namespace uop {
namespace {

std::string to_text(std::int64_t v) {
  return std::to_string(v);
}
std::string to_text(bool v) {
  return v ? "true" : "false";
}
std::string to_text(const std::string& v) {
  return v;
}

std::string type_name(std::int64_t) {
  return "integer";
}
std::string type_name(bool) {
  return "bool";
}
std::string type_name(const std::string&) {
  return "text";
}

Status refuse(std::string_view name, std::string_view value, std::string_view allowed) {
  return invalid_argument("option {}: '{}' is not allowed; give {}", name, value, allowed);
}

bool parse_number(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

Status assign(std::string_view name, std::string_view check, std::string_view value, std::int64_t& out) {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  if (const std::size_t dots = check.find(".."); dots != std::string_view::npos) {
    parse_number(check.substr(0, dots), low);
    if (dots + 2 < check.size()) parse_number(check.substr(dots + 2), high);
  }
  std::int64_t number = 0;
  if (!parse_number(value, number) || number < low || number > high)
    return refuse(name, value, check.empty() ? "an integer" : fmt::format("an integer in {}", check));
  out = number;
  return ok_status();
}

Status assign(std::string_view name, std::string_view, std::string_view value, bool& out) {
  if (value == "true" || value == "1" || value == "on") {
    out = true;
  } else if (value == "false" || value == "0" || value == "off") {
    out = false;
  } else {
    return refuse(name, value, "true or false");
  }
  return ok_status();
}

Status assign(std::string_view name, std::string_view check, std::string_view value, std::string& out) {
  for (std::size_t at = 0; !check.empty();) {
    const std::size_t bar = std::min(check.find('|', at), check.size());
    if (check.substr(at, bar - at) == value) break;
    if (bar == check.size()) return refuse(name, value, fmt::format("one of {}", check));
    at = bar + 1;
  }
  out = std::string(value);
  return ok_status();
}

bool same_name(std::string_view row, std::string_view given) {
  return std::ranges::equal(row, given, [](char r, char g) { return r == (g == '-' ? '_' : g); });
}

std::string names(bool in_key) {
  std::string list;
  for (const OptionRow& row : option_rows())
    if (row.in_key == in_key) list += (list.empty() ? "" : ", ") + row.name;
  return list;
}

}  // namespace

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow> rows = [] {
    std::vector<OptionRow> r;
    const CompileOptions c;
    const EngineOptions e;
#define COMPILE_OPTION(field, type, value, check, help) \
  r.push_back({#field, type_name(c.field), to_text(c.field), check, help, true});
#define ENGINE_OPTION(field, type, value, check, help) \
  r.push_back({#field, type_name(e.field), to_text(e.field), check, help, false});
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
    return r;
  }();
  return rows;
}

Status set_option(CompileOptions& options, std::string_view name, std::string_view value) {
#define COMPILE_OPTION(field, type, init, check, help) \
  if (same_name(#field, name)) return assign(#field, check, value, options.field);
#define ENGINE_OPTION(field, type, init, check, help)
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return invalid_argument("'{}' is not a compile option; there are: {}", name, names(true));
}

Status set_option(EngineOptions& options, std::string_view name, std::string_view value) {
#define COMPILE_OPTION(field, type, init, check, help)
#define ENGINE_OPTION(field, type, init, check, help) \
  if (same_name(#field, name)) return assign(#field, check, value, options.field);
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return invalid_argument("'{}' is not an engine option; there are: {}", name, names(false));
}

std::vector<std::pair<std::string, std::string>> to_pairs(const CompileOptions& options) {
  std::vector<std::pair<std::string, std::string>> pairs;
#define COMPILE_OPTION(field, type, value, check, help) pairs.emplace_back(#field, to_text(options.field));
#define ENGINE_OPTION(field, type, value, check, help)
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return pairs;
}

std::vector<std::pair<std::string, std::string>> to_pairs(const EngineOptions& options) {
  std::vector<std::pair<std::string, std::string>> pairs;
#define COMPILE_OPTION(field, type, value, check, help)
#define ENGINE_OPTION(field, type, value, check, help) pairs.emplace_back(#field, to_text(options.field));
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return pairs;
}

std::string key_text(const CompileOptions& options) {
  std::string text;
  for (const auto& [name, value] : to_pairs(options)) text += name + "=" + value + ";";
  return text;
}

Status options_from_environment(CompileOptions& compile, EngineOptions& engine) {
  for (const OptionRow& row : option_rows()) {
    std::string variable = "UOPD_" + row.name;
    std::ranges::transform(variable, variable.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto value = environment(variable);
    if (!value) continue;
    const Status set = row.in_key ? set_option(compile, row.name, *value) : set_option(engine, row.name, *value);
    if (!set.ok()) return invalid_argument("environment variable {}: {}", variable, message(set));
  }
  return ok_status();
}

}  // namespace uop
