// `uop status`: what the server, or the engine in this process, is and how it does.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"

namespace uop {
namespace {

bool is_whole(double number) {
  return number == static_cast<double>(static_cast<std::int64_t>(number));
}

Status print_status(const Settings& settings) {
  StatusOr<std::shared_ptr<Device>> device = settings.device();
  if (!device.ok()) return device.status();
  StatusOr<DeviceStatus> status = (*device)->status();
  if (!status.ok()) return status.status();
  nlohmann::ordered_json json{{"device", (*device)->name()}};
  for (const StatusRow& row : *status)
    if (row.kind == StatusRow::Kind::kText)
      json[row.name] = row.text;
    else if (is_whole(row.number))
      json[row.name] = static_cast<std::int64_t>(row.number);
    else
      json[row.name] = row.number;
  if (settings.json()) {
    fmt::print("{}\n", json.dump(2));
    return ok_status();
  }
  for (const auto& [name, value] : json.items())
    if (value != "") fmt::print("{:<24} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  return ok_status();
}

}  // namespace

void add_status_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("status", "Show what the server, or this process's engine, is and does");
  command->fallthrough()->callback([=] { chosen(print_status); });
}

}  // namespace uop
