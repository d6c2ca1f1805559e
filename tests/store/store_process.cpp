// A process of its own for the tests of the cache directory: store_process DEVICE FIRST COUNT [OPTION=VALUE...] runs
// the numbered graphs FIRST … FIRST+COUNT-1 on the device, "embedded" (with these options) or the address of a server,
// and prints one line of JSON. The exit code is 0 where every answer came and was right.
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "client/cpp/embedded.h"
#include "client/cpp/remote.h"
#include "tests/store/numbered_graphs.h"

namespace uop {
namespace {

std::shared_ptr<Device> device_of(const std::string& name, const std::vector<std::string>& settings) {
  EngineOptions options;
  options.threads = 1;
  options.pool_bytes = 64 << 20;
  for (const std::string& setting : settings) {
    const std::size_t at = setting.find('=');
    const Status set = set_option(options, setting.substr(0, at), setting.substr(at + 1));
    if (!set.ok()) throw std::runtime_error(message(set));
  }
  return value_or_throw(name == "embedded" ? embedded(options) : remote(name));
}

int run(const std::vector<std::string>& arguments) {
  const auto device = device_of(arguments.at(0), {arguments.begin() + 3, arguments.end()});
  const int first = std::stoi(arguments.at(1)), count = std::stoi(arguments.at(2));
  nlohmann::json report{{"right", 0}, {"errors", nlohmann::json::array()}};
  for (int n = first; n < first + count; ++n) {
    const StatusOr<bool> right = run_numbered(*device, n);
    if (!right.ok())
      report["errors"].push_back(message(right.status()));
    else if (*right)
      report["right"] = report["right"].get<int>() + 1;
  }
  for (const StatusRow& row : value_or_throw(device->status()))
    if (row.kind == StatusRow::Kind::kText)
      report[row.name] = row.text;
    else
      report[row.name] = row.number;
  std::cout << report.dump() << std::endl;
  return report["right"] == count ? 0 : 1;
}

}  // namespace
}  // namespace uop

int main(int argc, char** argv) {
  try {
    return uop::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "store_process: " << e.what() << std::endl;
    return 2;
  }
}
