#include "core/support/option_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace uop {
namespace {

Status refuse(std::string_view name, std::string_view value, std::string_view allowed) {
  return invalid_argument("option {}: '{}' is not allowed; give {}", name, value, allowed);
}

bool parse_number(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string option_text(std::int64_t v) {
  return std::to_string(v);
}
std::string option_text(bool v) {
  return v ? "true" : "false";
}
std::string option_text(const std::string& v) {
  return v;
}

std::string option_type(std::int64_t) {
  return "integer";
}
std::string option_type(bool) {
  return "bool";
}
std::string option_type(const std::string&) {
  return "text";
}

Status assign_option(std::string_view name, std::string_view check, std::string_view value, std::int64_t& out) {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  if (const std::size_t dots = check.find(".."); dots != std::string_view::npos) {
    parse_number(check.substr(0, dots), low);
    if (dots + 2 < check.size()) parse_number(check.substr(dots + 2), high);
  }
  std::int64_t number = 0;
  if (!parse_number(value, number) || number < low || number > high)
    return refuse(name, value, check.empty() ? "an integer" : fmt::format("an integer in {}", check));
  out = number;
  return ok_status();
}

Status assign_option(std::string_view name, std::string_view, std::string_view value, bool& out) {
  if (value == "true" || value == "1" || value == "on") {
    out = true;
  } else if (value == "false" || value == "0" || value == "off") {
    out = false;
  } else {
    return refuse(name, value, "true or false");
  }
  return ok_status();
}

Status assign_option(std::string_view name, std::string_view check, std::string_view value, std::string& out) {
  for (std::size_t at = 0; !check.empty();) {
    const std::size_t bar = std::min(check.find('|', at), check.size());
    if (check.substr(at, bar - at) == value) break;
    if (bar == check.size()) return refuse(name, value, fmt::format("one of {}", check));
    at = bar + 1;
  }
  out = std::string(value);
  return ok_status();
}

std::string option_variable(std::string_view name) {
  std::string variable = "UOPD_";
  for (const char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

bool is_option(std::string_view row, std::string_view given) {
  return std::ranges::equal(row, given, [](char r, char g) { return r == (g == '-' ? '_' : g); });
}

}  // namespace uop
