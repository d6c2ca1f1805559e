#include "core/support/options.h"

#include "core/support/environment.h"
#include "core/support/option_value.h"

namespace uop {
namespace {

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
  r.push_back({#field, option_type(c.field), option_text(c.field), check, help, true});
#define ENGINE_OPTION(field, type, value, check, help) \
  r.push_back({#field, option_type(e.field), option_text(e.field), check, help, false});
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
    return r;
  }();
  return rows;
}

Status set_option(CompileOptions& options, std::string_view name, std::string_view value) {
#define COMPILE_OPTION(field, type, init, check, help) \
  if (is_option(#field, name)) return assign_option(#field, check, value, options.field);
#define ENGINE_OPTION(field, type, init, check, help)
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return invalid_argument("'{}' is not a compile option; there are: {}", name, names(true));
}

Status set_option(EngineOptions& options, std::string_view name, std::string_view value) {
#define COMPILE_OPTION(field, type, init, check, help)
#define ENGINE_OPTION(field, type, init, check, help) \
  if (is_option(#field, name)) return assign_option(#field, check, value, options.field);
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return invalid_argument("'{}' is not an engine option; there are: {}", name, names(false));
}

std::vector<std::pair<std::string, std::string>> to_pairs(const CompileOptions& options) {
  std::vector<std::pair<std::string, std::string>> pairs;
#define COMPILE_OPTION(field, type, value, check, help) pairs.emplace_back(#field, option_text(options.field));
#define ENGINE_OPTION(field, type, value, check, help)
#include "core/support/options.inc"
#undef COMPILE_OPTION
#undef ENGINE_OPTION
  return pairs;
}

std::vector<std::pair<std::string, std::string>> to_pairs(const EngineOptions& options) {
  std::vector<std::pair<std::string, std::string>> pairs;
#define COMPILE_OPTION(field, type, value, check, help)
#define ENGINE_OPTION(field, type, value, check, help) pairs.emplace_back(#field, option_text(options.field));
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
    const std::string variable = option_variable(row.name);
    const auto value = environment(variable);
    if (!value) continue;
    const Status set = row.in_key ? set_option(compile, row.name, *value) : set_option(engine, row.name, *value);
    if (!set.ok()) return invalid_argument("environment variable {}: {}", variable, message(set));
  }
  return ok_status();
}

}  // namespace uop
