// `uop convert GRAPH OUT`: a graph from text to its serialized form, or back.
#include "client/cli/commands.h"
#include "client/cli/graph_file.h"
#include "client/cpp/file.h"
#include "core/ir/text.h"
#include "core/wire/graph_codec.h"

namespace uop {
namespace {

Status convert(const std::string& from, const std::string& to) {
  StatusOr<GraphFile> file = read_graph(from);
  if (!file.ok()) return file.status();
  const auto& roots = file->graph.roots;
  return write_file(to == "-" ? "/dev/stdout" : to,
                    file->is_text ? encode_graph(roots).SerializeAsString() : to_text(roots));
}

}  // namespace

void add_convert_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("convert", "Turn a graph's text into its serialized form, or the other way");
  const auto from = std::make_shared<std::string>();
  const auto to = std::make_shared<std::string>();
  command->fallthrough()->add_option("graph", *from, "the graph")->required();
  command->add_option("out", *to, "file to write; - is stdout")->required();
  command->callback([=] { chosen([=](const Settings&) { return convert(*from, *to); }); });
}

}  // namespace uop
