#include "server/server_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <vector>

#include "core/support/environment.h"
#include "core/support/option_value.h"

namespace uop {
namespace {

/// The rows of both tables.
std::vector<OptionRow> all_rows() {
  std::vector<OptionRow> rows;
#define NUMBER(field, name, value, low, high, help) \
  rows.push_back(                                   \
      {name, option_type(std::int64_t{value}), option_text(std::int64_t{value}), #low ".." #high, help, false});
#define TEXT(field, name, value, allowed, help) \
  rows.push_back({name, option_type(std::string()), value, allowed, help, false});
#include "server/server_options.inc"
#undef NUMBER
#undef TEXT
  rows.insert(rows.end(), option_rows().begin(), option_rows().end());
  return rows;
}

/// Sets one option of any table.
Status set(ServerOptions& options, const std::string& option, const std::string& text) {
#define NUMBER(field, name, value, low, high, help) \
  if (is_option(name, option)) return assign_option(name, #low ".." #high, text, options.field);
#define TEXT(field, name, value, allowed, help) \
  if (is_option(name, option)) return assign_option(name, allowed, text, options.field);
#include "server/server_options.inc"
#undef NUMBER
#undef TEXT
  for (const OptionRow& row : option_rows()) {
    if (!is_option(row.name, option)) continue;
    return row.in_key ? set_option(options.compile, option, text) : set_option(options.engine, option, text);
  }
  return invalid_argument("there is no option '{}'; see uopd --help", option);
}

Status set_from(const std::string& source, ServerOptions& options, const std::string& option, const std::string& text) {
  const Status status = set(options, option, text);
  return status.ok() ? status : invalid_argument("{}: {}", source, message(status));
}

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

Status read_environment(ServerOptions& options) {
  for (const OptionRow& row : all_rows()) {
    const std::string variable = option_variable(row.name);
    const auto value = environment(variable);
    if (!value) continue;
    if (const Status s = set_from("environment variable " + variable, options, row.name, *value); !s.ok()) return s;
  }
  return ok_status();
}

/// A file of `name = value` lines (TOML, or INI without sections); '#' begins a comment.
Status read_config(const std::string& path, ServerOptions& options) {
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error& e) {
    return invalid_argument("config file {}: it can't be read ({}); check the path given by --config", path, e.what());
  }
  for (const CLI::ConfigItem& item : items) {
    const std::string source = fmt::format("config file {}", path);
    if (!item.parents.empty() || item.name == "++" || item.name == "--")
      return invalid_argument("{}: section [{}]: there are no sections; write name = value lines only", source,
                              item.parents.empty() ? item.name : item.parents.front());
    if (item.inputs.size() != 1)
      return invalid_argument("{}: '{}' has {} values; give one", source, item.name, item.inputs.size());
    if (const Status s = set_from(source, options, item.name, item.inputs.front()); !s.ok()) return s;
  }
  return ok_status();
}

}  // namespace

StatusOr<std::variant<ServerOptions, Printout>> parse_server_options(int argc, const char* const* argv) {
  CLI::App app(
      "uopd: compiles and executes tensor programs for clients over gRPC.\n"
      "Every option is also a line of the config file (name = value) and an environment variable UOPD_NAME;\n"
      "a flag wins over the file, the file over the environment.",
      "uopd");
  app.get_formatter()->column_width(32);
  std::string config;
  app.add_option("--config", config, "file of name = value lines (TOML)")->type_name("FILE");
  bool version = false;
  app.add_flag("--version", version, "print the version and exit");

  std::vector<std::pair<std::string, CLI::Option*>> flags;
  for (const OptionRow& row : all_rows()) {
    const bool is_bool = row.type == "bool";
    CLI::Option* flag =
        app.add_option("--" + with_dashes(row.name), CLI::callback_t([](const auto&) { return true; }), row.help);
    flag->expected(is_bool ? 0 : 1, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    flag->type_name(is_bool ? "true|false" : row.check.empty() ? row.type : row.check);
    flag->option_text(fmt::format("{} [{}]",
                                  is_bool             ? "true|false"
                                  : row.check.empty() ? row.type
                                                      : row.check,
                                  row.default_value));
    flags.emplace_back(row.name, flag);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Printout{app.help()};
  } catch (const CLI::ParseError& e) {
    return invalid_argument("{}; see uopd --help", e.what());
  }
  if (version) return Printout{"uopd " UOPD_VERSION "\n"};

  ServerOptions options;
  if (const Status s = read_environment(options); !s.ok()) return s;
  if (config.empty()) config = environment("UOPD_CONFIG").value_or("");
  if (!config.empty())
    if (const Status s = read_config(config, options); !s.ok()) return s;
  for (const auto& [name, flag] : flags) {
    if (flag->count() == 0) continue;
    const std::string value = flag->results().back();
    const bool bare = value.empty() && flag->get_expected_min() == 0;  // --fuse-reduce alone means true
    if (const Status s = set_from("flag --" + with_dashes(name), options, name, bare ? "true" : value); !s.ok())
      return s;
  }
  return options;
}

}  // namespace uop
