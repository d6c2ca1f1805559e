// Picks from the table of C functions what a kernel needs: `prelude_for`.
#include "core/render/prelude.h"

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "core/ir/dtype.h"
#include "core/render/prelude_table.h"
#include "core/support/status.h"

namespace uop {
namespace {

using Definitions = std::map<std::string, std::string, std::less<>>;

std::vector<DType> dtypes_of(std::string_view names) {
  std::vector<DType> dtypes;
  std::istringstream words{std::string(names)};
  for (std::string word; words >> word;) {
    const std::optional<DType> dtype = dtype_of_name(word);
    check(dtype.has_value(), "the prelude's table names a dtype that does not exist");
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

/// What stands for `placeholder` in a row of the table.
std::string meaning(char placeholder, DType type, DType source) {
  const bool wide = byte_size(type) == 8;
  switch (placeholder) {
    case 'T': return std::string(name(type));
    case 'C': return std::string(row(type).c_value);
    case 'W': return std::to_string(8 * byte_size(type));
    case 'N': return wide ? "unsigned long" : "unsigned";
    case 'F': return wide ? "" : "f";
    case 'M': return wide ? "52" : "23";
    case 'I': return wide ? "long" : "int";
    case 'S': return std::string(name(source));
    case 'D': return std::string(row(source).c_value);
    default: throw BrokenInvariant(fmt::format("the prelude's table has an unknown placeholder ${}", placeholder));
  }
}

std::string expand(std::string_view text, DType type, DType source) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$')
      result += meaning(text[++i], type, source);
    else
      result += text[i];
  }
  return result;
}

void add(Definitions& definitions, std::span<const PreludeRow> rows) {
  for (const PreludeRow& r : rows) {
    const std::vector<DType> sources = r.sources.empty() ? std::vector<DType>{DType::kNone} : dtypes_of(r.sources);
    for (const DType type : dtypes_of(r.types))
      for (const DType source : sources) definitions[expand(r.name, type, source)] = expand(r.text, type, source);
  }
}

const Definitions& definitions() {
  static const Definitions all = [] {
    Definitions result;
    for (const auto& rows : {integer_rows(), order_rows(), rounding_rows(), transcendental_rows(), sine_rows()})
      add(result, rows);
    result["uop_two_over_pi"] = two_over_pi_text();
    result["uop_over_pi_f32"] = over_pi_f32_text();
    return result;
  }();
  return all;
}

/// The identifiers `uop_…` in C text.
std::set<std::string_view> names_in(std::string_view text) {
  constexpr std::string_view kIdentifier = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::set<std::string_view> names;
  for (std::size_t begin = text.find_first_of(kIdentifier); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kIdentifier, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (word.starts_with("uop_")) names.insert(word);
    begin = text.find_first_of(kIdentifier, end);
  }
  return names;
}

/// Appends the definition of each name, after what it needs. As deep as the table's longest chain of calls.
void define(const std::set<std::string_view>& names, std::set<std::string_view>& defined, std::string& out) {
  for (const std::string_view name : names) {
    if (!defined.insert(name).second) continue;
    const auto found = definitions().find(name);
    check(found != definitions().end(), fmt::format("rendered C calls {}, which the prelude does not have", name));
    define(names_in(found->second), defined, out);
    out += found->second;
  }
}

}  // namespace

std::string prelude_for(std::string_view body) {
  std::set<std::string_view> defined;
  std::string out;
  define(names_in(body), defined, out);
  return out;
}

}  // namespace uop
