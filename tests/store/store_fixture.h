// What the tests of the cache directory share: a directory, its files, devices and processes on it, and compilers that
// are shell scripts.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

#include "client/cpp/embedded.h"
#include "client/cpp/remote.h"
#include "core/compile/artifact_store.h"
#include "tests/client/process.h"
#include "tests/store/numbered_graphs.h"

namespace uop {

/// Longer than anything takes on a busy machine; only a test that fails waits for it.
inline bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// The value of a series of the server, by its name.
inline double metric(const testing::ServerProcess& server, const std::string& series) {
  const std::size_t colon = server.metrics().rfind(':');
  boost::asio::ip::tcp::iostream http(server.metrics().substr(0, colon), server.metrics().substr(colon + 1));
  http << "GET /metrics HTTP/1.0\r\n\r\n" << std::flush;
  for (std::string line; std::getline(http, line);)
    if (line.starts_with(series + " ")) return std::stod(line.substr(series.size() + 1));
  ADD_FAILURE() << "no series " << series;
  return -1;
}

class CacheDirectoryTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ / name; }
  std::string cache() const { return path("cache"); }

  /// A compiler that runs `body` ($out: the output file, $dir: the directory of the test) and ends as gcc does where
  /// that has not ended. Its identity is its text alone, so that a process that uses it starts at once.
  std::string compiler(const std::string& name, const std::string& body) const {
    std::ofstream(path(name)) << "#!/bin/sh\ncase \"$1\" in --version) echo " << name
                              << "; exit;; -print*) exit 1;; esac\ndir=" << directory_.path()
                              << "\nfor a; do [ \"$last\" = -o ] && out=$a; last=$a; done\n"
                              << body << "\nexec gcc \"$@\"\n";
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
    return path(name);
  }
  /// One that notes each run in the file "runs".
  std::string counting_compiler() const { return compiler("counting", "echo run >> $dir/runs"); }
  int runs() const {
    const std::string lines = testing::content_of(path("runs"));
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }

  EngineOptions options(const std::string& with_compiler = "gcc") const {
    EngineOptions o;
    o.cache_dir = cache();
    o.compiler = with_compiler;
    o.threads = 1;
    o.pool_bytes = 64 << 20;
    return o;
  }
  static std::shared_ptr<Device> open(const EngineOptions& o) { return value_or_throw(embedded(o)); }

  /// The entries of one kind: "kernel" or "plan".
  std::vector<std::filesystem::path> entries(const std::string& kind) const {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(cache()))
      if (file.path().extension() == "." + kind) found.push_back(file.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  /// What lies in the directory although no process uses it: no claim, nothing in the making.
  std::vector<std::string> rubbish() const {
    std::vector<std::string> found;
    for (const char* folder : {"claims", "tmp"})
      for (const auto& file : std::filesystem::recursive_directory_iterator(cache() + "/v1/" + folder))
        found.push_back(file.path());
    return found;
  }

  /// Arguments of store_process for an engine of its own on the directory.
  std::vector<std::string> on_cache(int first, int count, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"embedded", std::to_string(first), std::to_string(count), "cache_dir=" + cache()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  TemporaryDirectory directory_;
};

}  // namespace uop
