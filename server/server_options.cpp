#include "server/server_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "core/support/environment.h"

namespace uop {
namespace {

/// A row of either table, as the sources of options see it.
struct Row {
  std::string name;
  std::string type;
  std::string default_value;
  std::string check;
  std::string help;
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
#define NUMBER(field, name, value, low, high, help) \
  rows.push_back({name, "integer", std::to_string(value), #low ".." #high, help});
#define TEXT(field, name, value, allowed, help) rows.push_back({name, "text", value, allowed, help});
#include "server/server_options.inc"
#undef NUMBER
#undef TEXT
  for (const OptionRow& r : option_rows()) rows.push_back({r.name, r.type, r.default_value, r.check, r.help});
  return rows;
}

Status assign(std::string_view name, std::string_view text, std::int64_t low, std::int64_t high, std::int64_t& out) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < low || number > high)
    return invalid_argument("option {}: '{}' is not allowed; give an integer in {}..{}", name, text, low, high);
  out = number;
  return ok_status();
}

Status assign(std::string_view name, std::string_view text, std::string_view allowed, std::string& out) {
  const std::string framed = fmt::format("|{}|", allowed);
  if (!allowed.empty() && (text.empty() || framed.find(fmt::format("|{}|", text)) == std::string::npos))
    return invalid_argument("option {}: '{}' is not allowed; give one of {}", name, text, allowed);
  out = std::string(text);
  return ok_status();
}

/// Sets one option of any table by its name with underscores.
Status set(ServerOptions& options, const std::string& option, const std::string& text) {
#define NUMBER(field, name, value, low, high, help) \
  if (option == name) return assign(option, text, std::int64_t{low}, std::int64_t{high}, options.field);
#define TEXT(field, name, value, allowed, help) \
  if (option == name) return assign(option, text, allowed, options.field);
#include "server/server_options.inc"
#undef NUMBER
#undef TEXT
  for (const OptionRow& row : option_rows()) {
    if (row.name != option) continue;
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

std::string variable_of(const std::string& name) {
  std::string variable = "UOPD_" + name;
  std::ranges::transform(variable, variable.begin(), [](unsigned char c) { return std::toupper(c); });
  return variable;
}

Status read_environment(ServerOptions& options) {
  for (const Row& row : all_rows()) {
    const std::string variable = variable_of(row.name);
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
    std::string name = item.name;
    std::ranges::replace(name, '-', '_');
    if (const Status s = set_from(source, options, name, item.inputs.front()); !s.ok()) return s;
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
  for (const Row& row : all_rows()) {
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
