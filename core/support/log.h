// Structured logs: one event, some fields, one line. The only user of the logging library.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace uop {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// A name and a value of a log line; numbers are formatted, text is quoted where needed.
struct LogField {
  template <class T>
  LogField(std::string_view n, const T& v) : name(n), value(fmt::format("{}", v)) {}
  std::string_view name;
  std::string value;
};

/// Writes `event` and its fields as one line to stderr, as text (`time level event name=value …`) or JSON.
/// Thread-safe. Never pass tensor contents, tokens or whole graphs.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

/// Sets the lowest level that is written and the format ("text" or "json"). The default is warnings, as text.
void configure_log(LogLevel lowest, bool json);

}  // namespace uop
