// The commands of `uop`, one file each. `add_commands` is the list; each adds its flags to a subcommand and says what
// to do once the command line is parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "client/cli/settings.h"

namespace uop {

/// Runs the chosen command; its Status becomes the exit code.
using Action = std::function<Status(const Settings&)>;

/// Calls `chosen` with the action of the command that the command line names.
using Chosen = std::function<void(Action)>;

void add_run_command(CLI::App& app, const Chosen& chosen);
void add_plan_command(CLI::App& app, const Chosen& chosen);
void add_explain_command(CLI::App& app, const Chosen& chosen);
void add_convert_command(CLI::App& app, const Chosen& chosen);
void add_ops_command(CLI::App& app, const Chosen& chosen);
void add_status_command(CLI::App& app, const Chosen& chosen);
void add_cache_command(CLI::App& app, const Chosen& chosen);
void add_serve_command(CLI::App& app, const Chosen& chosen);

}  // namespace uop
