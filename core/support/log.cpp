#include "core/support/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <nlohmann/json.hpp>

namespace uop {
namespace {

std::atomic<bool> g_json = false;

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger l("uopd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    l.set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    l.set_level(spdlog::level::warn);
    l.flush_on(spdlog::level::debug);
    return l;
  }();
  return instance;
}

/// A JSON string: valid UTF-8 whatever the bytes were, and never a line break of its own.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c <= 0x20 || c == '"' || c == '=' || c == 0x7f) return false;  // also all that is not ASCII: char is signed
  return !text.empty();
}

}  // namespace

void configure_log(LogLevel lowest, bool json) {
  g_json = json;
  logger().set_level(spdlog_level(lowest));
  logger().set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logger().should_log(spdlog_level(level))) return;
  const bool json = g_json;
  std::string line = json ? "\"event\":" + json_text(event) : std::string(event);
  for (const LogField& f : fields) {
    if (json) {
      line += "," + json_text(f.name) + ":" + json_text(f.value);
    } else {
      line += fmt::format(" {}={}", f.name, is_plain(f.value) ? f.value : json_text(f.value));
    }
  }
  logger().log(spdlog_level(level), "{}", line);
}

}  // namespace uop
