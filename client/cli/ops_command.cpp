// `uop ops`: the ops and dtypes a graph may hold.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "core/ir/op.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

/// "B I F" -> words.
std::string kinds_text(std::string_view kinds) {
  std::string text;
  for (const char kind : kinds)
    text += (text.empty() ? "" : " ") + std::string(kind == 'B' ? "bool" : kind == 'I' ? "int" : "float");
  return text;
}

Status print_ops(const Settings& settings) {
  Json ops = Json::array();
  Json dtypes = Json::array();
  for (const OpRow& op : op_rows())
    if (op.number != 0)
      ops.push_back({{"number", op.number},
                     {"name", op.name},
                     {"sources", op.arity},
                     {"operands", kinds_text(op.kinds)},
                     {"help", op.help}});
  for (const DTypeRow& dtype : dtype_rows())
    dtypes.push_back({{"number", static_cast<int>(dtype.dtype)}, {"name", dtype.name}, {"bytes", dtype.bytes}});
  if (settings.json()) {
    fmt::print("{}\n", Json{{"ops", ops}, {"dtypes", dtypes}}.dump(2));
    return ok_status();
  }
  fmt::print("{:>6}  {:<10} {:>7}  {:<15} {}\n", "number", "op", "sources", "operands", "meaning");
  for (const Json& op : ops)
    fmt::print("{:>6}  {:<10} {:>7}  {:<15} {}\n", op["number"].get<int>(), op["name"].get<std::string>(),
               op["sources"].get<int>(), op["operands"].get<std::string>(), op["help"].get<std::string>());
  fmt::print("\n{:>6}  {:<10} {:>7}\n", "number", "dtype", "bytes");
  for (const Json& dtype : dtypes)
    fmt::print("{:>6}  {:<10} {:>7}\n", dtype["number"].get<int>(), dtype["name"].get<std::string>(),
               dtype["bytes"].get<int>());
  return ok_status();
}

}  // namespace

void add_ops_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("ops", "List the ops and dtypes of graphs")->fallthrough();
  command->callback([=] { chosen(print_ops); });
}

}  // namespace uop
