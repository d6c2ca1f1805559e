// `uop cache list|size|verify|clear`: the directory of compiled kernels and plans, of --cache-dir.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cpp/embedded.h"

namespace uop {
namespace {

using Json = nlohmann::ordered_json;

std::string age(std::int64_t last_used_ns) {
  using namespace std::chrono;
  const auto now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  const std::int64_t seconds = std::max<std::int64_t>(0, (now - last_used_ns) / 1'000'000'000);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return seconds < 172800 ? fmt::format("{} h", seconds / 3600) : fmt::format("{} d", seconds / 86400);
}

Status list(const Settings& settings) {
  const CacheContent content = cache_content(settings.engine());
  if (!content.problem.empty())
    return error(StatusCode::kFailedPrecondition, "the cache directory {} is not in use: {}", content.directory,
                 content.problem);
  Json entries = Json::array();
  for (const CacheEntry& entry : content.entries) {
    if (settings.json())
      entries.push_back(
          {{"kind", entry.kind}, {"key", entry.key}, {"bytes", entry.bytes}, {"last_used_ns", entry.last_used_ns}});
    else
      fmt::print("{:<6} {} {:>10} bytes, used {} ago\n", entry.kind, entry.key, entry.bytes, age(entry.last_used_ns));
  }
  if (settings.json()) fmt::print("{}\n", Json{{"directory", content.directory}, {"entries", entries}}.dump(2));
  return ok_status();
}

Status size(const Settings& settings) {
  const CacheContent content = cache_content(settings.engine());
  std::uint64_t bytes = 0;
  for (const CacheEntry& entry : content.entries) bytes += entry.bytes;
  if (settings.json()) {
    const Json json{{"directory", content.directory},
                    {"problem", content.problem},
                    {"entries", content.entries.size()},
                    {"bytes", bytes},
                    {"limit_bytes", settings.engine().cache_bytes}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {} entries, {} of {} bytes\n", content.directory, content.entries.size(), bytes,
               settings.engine().cache_bytes);
    if (!content.problem.empty()) fmt::print("not in use: {}\n", content.problem);
  }
  return ok_status();
}

Status verify(const Settings& settings) {
  StatusOr<CacheCheck> report = verify_cache(settings.engine());
  if (!report.ok()) return report.status();
  if (settings.json())
    fmt::print("{}\n", Json{{"checked", report->checked}, {"removed", report->bad}}.dump(2));
  else
    fmt::print("{} entries checked, {} bad ones removed\n", report->checked, report->bad.size());
  for (const std::string& bad : report->bad) fmt::print(stderr, "uop: removed {}, which was damaged\n", bad);
  if (report->bad.empty()) return ok_status();
  return error(StatusCode::kDataLoss, "{} entries were damaged; they are removed and will be made again",
               report->bad.size());
}

Status clear(const Settings& settings) {
  StatusOr<std::uint64_t> removed = clear_cache(settings.engine());
  if (!removed.ok()) return removed.status();
  if (settings.json())
    fmt::print("{}\n", Json{{"removed", *removed}}.dump(2));
  else
    fmt::print("{} entries removed\n", *removed);
  return ok_status();
}

}  // namespace

void add_cache_command(CLI::App& app, const Chosen& chosen) {
  CLI::App* command = app.add_subcommand("cache", "Inspect the directory of compiled kernels and plans");
  command->fallthrough()->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, const Action& action) {
    command->add_subcommand(name, help)->fallthrough()->callback([=] { chosen(action); });
  };
  add("list", "Every entry: kind, key, bytes, last use", list);
  add("size", "How much there is", size);
  add("verify", "Read every entry and remove damaged ones (exit code 1 where there were any)", verify);
  add("clear", "Remove all entries", clear);
}

}  // namespace uop
