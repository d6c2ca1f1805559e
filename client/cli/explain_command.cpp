// `uop explain GRAPH`: what every pass makes of a graph, down to the C source, and why it was a hit or a miss.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/graph_file.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

Status explain(const Settings& settings, const std::string& path, const std::string& stage) {
  StatusOr<GraphFile> file = read_graph(path);
  if (!file.ok()) return file.status();
  StatusOr<std::shared_ptr<Device>> device = settings.device();
  if (!device.ok()) return device.status();
  StatusOr<ExplainReport> report = (*device)->explain(file->graph, settings.compile());
  if (!report.ok()) return report.status();

  std::vector<StageListing> wanted;
  std::vector<std::string_view> passes;
  for (const StageListing& listing : report->stages) {
    if (std::find(passes.begin(), passes.end(), listing.pass()) == passes.end()) passes.push_back(listing.pass());
    if (stage.empty() || listing.pass() == stage) wanted.push_back(listing);
  }
  if (wanted.empty()) return not_found("no stage is named {}; there are {}", stage, fmt::join(passes, ", "));

  const CompileReport& compilation = report->compilation;
  if (settings.json()) {
    Json stages = Json::array();
    for (const StageListing& listing : wanted) stages.push_back({{"name", listing.name}, {"text", listing.text}});
    const Json json{{"plan_id", compilation.plan_id},
                    {"plan_from", name(compilation.found_in)},
                    {"why", compilation.why},
                    {"stages", std::move(stages)}};
    fmt::print("{}\n", json.dump(2));
    return ok_status();
  }
  fmt::print("plan {} from {}{}{}\n", compilation.plan_id.substr(0, 16), name(compilation.found_in),
             compilation.why.empty() ? "" : ": ", compilation.why);
  for (const StageListing& listing : wanted)
    fmt::print("\n== {}\n{}{}", listing.name, listing.text, listing.text.ends_with('\n') ? "" : "\n");
  return ok_status();
}

}  // namespace

void add_explain_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("explain", "Show every stage of a graph, its C source, and why it hit or missed");
  const auto path = std::make_shared<std::string>();
  const auto stage = std::make_shared<std::string>();
  command->fallthrough()->add_option("graph", *path, "the graph")->required();
  command->add_option("--stage", *stage, "only the texts of this pass; render_c is the C source");
  command->callback([=] { chosen([=](const Settings& settings) { return explain(settings, *path, *stage); }); });
}

}  // namespace uop
