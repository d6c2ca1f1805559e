// The daemon: options, server, signals. Exit code 0 after a drain, 1 where it could not start.
#include <fcntl.h>
#include <grpc/support/log.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "core/support/log.h"
#include "server/server.h"
#include "server/signals.h"

namespace {

/// Started with stdin, stdout or stderr closed, the next files and sockets would take their numbers, and a log line
/// would go to a client.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) == -1) [[maybe_unused]]
      const int opened = ::open("/dev/null", O_RDWR);
}

/// As many connections as the system allows; the default of 1024 is there for programs that use select.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void configure_logs(const uop::ServerOptions& options) {
  const auto level = options.log_level == "debug"     ? uop::LogLevel::kDebug
                     : options.log_level == "info"    ? uop::LogLevel::kInfo
                     : options.log_level == "warning" ? uop::LogLevel::kWarning
                                                      : uop::LogLevel::kError;
  uop::configure_log(level, options.log_format == "json");
  gpr_set_log_function([](gpr_log_func_args* line) {
    uop::log(uop::LogLevel::kWarning, "grpc", {{"at", line->file}, {"message", line->message}});
  });
}

int fail(const uop::Status& status) {
  std::fprintf(stderr, "uopd: %s\n", uop::message(status).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  raise_file_limit();
  const auto parsed = uop::parse_server_options(argc, argv);
  if (!parsed.ok()) return fail(parsed.status());
  if (const auto* printout = std::get_if<uop::Printout>(&*parsed)) {
    std::fputs(printout->text.c_str(), stdout);
    return 0;
  }
  const auto& options = std::get<uop::ServerOptions>(*parsed);
  configure_logs(options);
  uop::Signals signals;
  const auto server = uop::Server::start(options);
  if (!server.ok()) return fail(server.status());
  signals.drain_on_signal(**server);
  return 0;
}
