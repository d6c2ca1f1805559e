#include "client/cli/settings.h"

#include <algorithm>

#include "client/cpp/embedded.h"
#include "client/cpp/remote.h"
#include "core/support/environment.h"

namespace uop {
namespace {

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string help_of(const OptionRow& row) {
  const std::string shown = row.default_value.empty() ? "" : " (default " + row.default_value + ")";
  return row.check.empty() ? row.help + shown : row.help + " [" + row.check + "]" + shown;
}

}  // namespace

Settings::Settings(CLI::App& app) {
  app.add_option("-s,--server", server_,
                 "server to use, host:port or unix:/path; default: UOPD_SERVER, else the engine in this process");
  app.add_option("-v,--verbosity", verbosity_,
                 "of runs, to stderr: 1 a line a run, 2 a line a kernel, 3 a second warm run, 4 C of what is compiled")
      ->check(CLI::Range(0, 4));
  app.add_flag("--json", json_, "print JSON instead of a table");
  for (const OptionRow& row : option_rows()) {
    const std::string flag = flag_of(row.name);
    const auto note = [this, name = row.name](const std::string& value) { given_[name] = value; };
    CLI::Option* option = row.type == "bool"
                              ? app.add_flag_function(
                                    flag + ",!--no-" + flag.substr(2),
                                    [note](std::int64_t count) { note(count > 0 ? "true" : "false"); }, help_of(row))
                              : app.add_option_function<std::string>(flag, note, help_of(row));
    if (row.type == "integer") option->type_name("INT");
    option->group(row.in_key ? "Compile options" : "Options of the engine in this process");
  }
}

Status Settings::apply() {
  if (const Status status = options_from_environment(compile_, engine_); !status.ok()) return status;
  for (const OptionRow& row : option_rows()) {
    const auto given = given_.find(row.name);
    if (given == given_.end()) continue;
    if (!row.in_key && !server_.empty())
      return invalid_argument("{} is for the engine in this process, but --server names another; leave one of them out",
                              flag_of(row.name));
    const Status status =
        row.in_key ? set_option(compile_, row.name, given->second) : set_option(engine_, row.name, given->second);
    if (!status.ok()) return status;
  }
  if (server_.empty()) server_ = environment("UOPD_SERVER").value_or("");
  return ok_status();
}

StatusOr<std::shared_ptr<Device>> Settings::device() const {
  return server_.empty() ? embedded(engine_) : remote(server_);
}

}  // namespace uop
