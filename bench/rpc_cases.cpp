// What the wire costs: a tiny graph on a server of its own process, over TCP and a unix socket, against the embedded
// engine.
#include "bench/cases.h"
#include "bench/plan_runner.h"
#include "bench/server_process.h"
#include "client/cpp/embedded.h"
#include "client/cpp/remote.h"
#include "tests/engine/chapter_graphs.h"

namespace uop::bench {
namespace {

/// A steady client: the buffer is put once, the structure known; each run is one Execute.
TimedRun tiny_run(const std::shared_ptr<Device>& device) {
  const auto graph = std::make_shared<RootedGraph>(graph_of([](Graph& g) {
    const UOp x = chapter::input(g, 0, {16});
    return chapter::add(x, x);
  }));
  const std::vector<float> values(16, 1.5f);
  StatusOr<BufferHandle> x = device->put(std::as_bytes(std::span(values)), {DType::kF32, 16});
  require(x.status());
  return [=, x = *x] {
    return seconds_of([&] { require(device->run(*graph, std::vector<BufferHandle>{x}, {}, {}).status()); });
  };
}

std::shared_ptr<Device> embedded_in(const std::string& cache_dir) {
  EngineOptions options;
  options.cache_dir = cache_dir;
  options.threads = 1;
  StatusOr<std::shared_ptr<Device>> device = embedded(options);
  require(device.status());
  return *device;
}

void register_transport(const std::string& name, const std::function<std::string(const ServerProcess&)>& address) {
  register_pair(name, 1, "embedded", [=] {
    const auto directory = std::make_shared<ScratchDirectory>();
    const auto server = std::make_shared<ServerProcess>(directory->path());
    StatusOr<std::shared_ptr<Device>> device = remote(address(*server));
    require(device.status());
    // The members of the closures go in reverse order: the device before its server, the server before its directory.
    return Pair{[directory, server, run = tiny_run(*device)] { return run(); },
                [directory, run = tiny_run(embedded_in(directory->path()))] { return run(); }};
  });
}

}  // namespace

void register_rpc_cases() {
  register_transport("rpc_tcp", [](const ServerProcess& s) { return s.tcp(); });
  register_transport("rpc_unix", [](const ServerProcess& s) { return "unix:" + s.unix_path(); });
}

}  // namespace uop::bench
