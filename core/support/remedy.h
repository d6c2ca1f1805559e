// What is wrong and what to do about it, in one message: "…\nremedy: …". Whoever knows the remedy writes it; whoever
// draws the place around the message puts it last.
#pragma once

#include <string>
#include <string_view>

namespace uop {

struct Advice {
  std::string what;
  std::string remedy;
};

/// The two parts of a message; `otherwise` is the remedy of one that brings none.
inline Advice advice_of(const std::string& message, std::string_view otherwise) {
  constexpr std::string_view kLine = "\nremedy: ";
  const std::size_t at = message.find(kLine);
  if (at == std::string::npos) return {message, std::string(otherwise)};
  return {message.substr(0, at), message.substr(at + kLine.size())};
}

}  // namespace uop
