// What holds for every command: which device, which options, how much to say, and in which form.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "client/cpp/device.h"

namespace uop {

class Settings {
 public:
  /// Adds the flags to `app`, one for each row of the table of options; they may stand before or after the command.
  explicit Settings(CLI::App& app);

  /// Environment first, then flags. Call once, after parsing. Errors: INVALID_ARGUMENT names option and value;
  /// also for an option of the engine in this process beside --server.
  Status apply();

  /// The server of --server or UOPD_SERVER, else the engine in this process.
  StatusOr<std::shared_ptr<Device>> device() const;

  const CompileOptions& compile() const { return compile_; }
  const EngineOptions& engine() const { return engine_; }
  int verbosity() const { return verbosity_; }
  bool json() const { return json_; }

 private:
  CompileOptions compile_;
  EngineOptions engine_;
  std::map<std::string, std::string> given_;  // by option name: the text of each flag that was given
  std::string server_;
  int verbosity_ = 0;
  bool json_ = false;
};

}  // namespace uop
