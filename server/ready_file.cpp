#include "server/ready_file.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uop {

Status write_ready_file(const std::string& path, const ServerAddresses& addresses) {
  const nlohmann::json content = {
      {"grpc", addresses.grpc}, {"unix", addresses.unix_path}, {"metrics", addresses.metrics}, {"pid", ::getpid()}};
  const std::string temporary = fmt::format("{}.{}", path, ::getpid());
  std::ofstream file(temporary);
  file << content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return ok_status();
  std::remove(temporary.c_str());
  return error(StatusCode::kUnavailable, "cannot write --ready-file {}; give a path in a directory that may be written",
               path);
}

}  // namespace uop
