// `uop serve …`: becomes the server, uopd, with the arguments that follow.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "client/cli/commands.h"

namespace uop {
namespace {

Status serve(std::vector<std::string> arguments) {
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::string server = problem ? "uopd" : (self.parent_path() / "uopd").string();
  std::vector<char*> argv{const_cast<char*>(server.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(server.c_str(), argv.data());  // beside this program; on PATH where that is not known
  return not_found("{} cannot be started: {}; install uopd beside uop", server, std::strerror(errno));
}

}  // namespace

void add_serve_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("serve", "Start a server; arguments are uopd's (uop serve --help)");
  command->prefix_command()->set_help_flag();  // all of them, --help too, go to uopd
  command->callback([=] { chosen([arguments = command->remaining()](const Settings&) { return serve(arguments); }); });
}

}  // namespace uop
