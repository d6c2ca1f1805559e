// `uop`: runs and inspects tensor programs, on a server or in this process.
#include <cstdio>

#include "client/cli/commands.h"

namespace {

constexpr const char* kFooter =
    "GRAPH is a file of a serialized uopd.v1.Graph, or of its text form as `uop convert` writes it; - is stdin.\n"
    "Exit codes: 0 done, 1 the request failed, 2 wrong usage, 3 the server is not reachable.";

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

ExitCode exit_code(const uop::Status& status) {
  if (status.ok()) return kDone;
  return status.code() == uop::StatusCode::kUnavailable ? kUnreachable : kFailed;
}

void print_error(const uop::Status& status) {
  std::fprintf(stderr, "uop: %s\n", uop::message(status).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs and inspects tensor programs, on a uopd server or with the same engine in this process.", "uop");
  app.footer(kFooter);
  app.set_version_flag("--version", "uop " UOPD_VERSION);
  uop::Settings settings(app);
  uop::Action action;
  const auto chosen = [&action](uop::Action a) { action = std::move(a); };
  uop::add_run_command(app, chosen);
  uop::add_plan_command(app, chosen);
  uop::add_explain_command(app, chosen);
  uop::add_convert_command(app, chosen);
  uop::add_ops_command(app, chosen);
  uop::add_status_command(app, chosen);
  uop::add_cache_command(app, chosen);
  uop::add_serve_command(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kUsage;
  }
  if (const uop::Status status = settings.apply(); !status.ok()) {
    print_error(status);
    return kUsage;
  }
  if (!action) {  // asked here and not of CLI11, which would say so of a misspelt command too
    std::fprintf(stderr, "uop: a command is needed, such as run or status; uop --help lists them\n");
    return kUsage;
  }
  const uop::Status status = action(settings);
  if (!status.ok()) print_error(status);
  return exit_code(status);
}
