// A file that tells scripts where a server that they started can be reached.
#pragma once

#include <string>

#include "server/server.h"

namespace uop {

/// {"grpc": "127.0.0.1:9470", "unix": "…", "metrics": "127.0.0.1:9471", "pid": 1234}, complete as soon as it is there.
/// Errors: UNAVAILABLE that names the path.
Status write_ready_file(const std::string& path, const ServerAddresses& addresses);

}  // namespace uop
