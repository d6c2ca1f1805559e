// A cache directory that cannot be used, from the start or all at once: the server goes on from memory, says so once,
// counts it, and uses the directory again when it is right again, without a restart.
#include <fcntl.h>

#include "tests/store/own_mounts.h"
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;
using testing::ServerProcess;

constexpr uid_t kSomebodyElse = 65534;

struct Trouble {
  const char* name;
  bool at_start;  // whether a server can also start with it
  std::function<void(const std::string&directory)> make, cure;
};

/// Fills the file system but for two pages: a plan would still fit, a kernel does not.
void fill(const std::string& directory) {
  const std::string file = directory + "/filler", block(4096, 'x');
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  off_t size = 0;
  while (write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size())) size += 4096;
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(ftruncate(fd, size - 2 * 4096), 0);
  close(fd);
}

const std::vector<Trouble>& troubles() {
  static const std::vector<Trouble> list = {
      {"full", true, fill, [](const std::string& d) { fs::remove(d + "/filler"); }},
      {"read-only", true, [](const std::string& d) { EXPECT_TRUE(make_read_only(d)); },
       [](const std::string& d) { EXPECT_EQ(umount2(d.c_str(), MNT_DETACH), 0); }},
      {"deleted", false, [](const std::string& d) { fs::remove_all(d); }, [](const std::string&) {}},
      {"owned by somebody else", true,
       [](const std::string& d) { EXPECT_EQ(chown(d.c_str(), kSomebodyElse, kSomebodyElse), 0) << "run as root"; },
       [](const std::string& d) { EXPECT_EQ(chown(d.c_str(), geteuid(), getegid()), 0); }},
      {"writable by others", true, [](const std::string& d) { EXPECT_EQ(chmod(d.c_str(), 0777), 0); },
       [](const std::string& d) { EXPECT_EQ(chmod(d.c_str(), 0700), 0); }},
      {"a plain file", true,
       [](const std::string& d) {
         fs::rename(d, d + ".aside");
         std::ofstream(d) << "a file";
       },
       [](const std::string& d) {
         fs::remove(d);
         fs::rename(d + ".aside", d);
       }},
  };
  return list;
}

class DirectoryTroubleTest : public CacheDirectoryTest {
 protected:
  /// A server on a directory of its own.
  struct Case {
    Trouble trouble;
    std::string directory;
    std::unique_ptr<ServerProcess> server = nullptr;
    std::shared_ptr<Device> device = nullptr;
  };

  static int count(const std::string& text, const std::string& what) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  }
  static std::string problem(Device& device) {
    for (const StatusRow& row : value_or_throw(device.status()))
      if (row.name == "cache_problem") return row.text;
    return "no such row";
  }
  static std::size_t kernels_in(const std::string& directory) {
    std::size_t kernels = 0;
    for (const auto& file : fs::recursive_directory_iterator(directory))
      if (file.path().extension() == ".kernel") ++kernels;
    return kernels;
  }
  static void start(Case& c, const std::string& with_compiler) {
    c.server = std::make_unique<ServerProcess>(std::vector<std::string>{"--threads=1", "--compiler=" + with_compiler},
                                               c.directory);
    c.device = value_or_throw(remote(c.server->address()));
  }

  static void expect_service(Case& c, int first, int last) {
    for (int n = first; n < last; ++n) {
      const StatusOr<bool> right = run_numbered(*c.device, n);
      EXPECT_TRUE(right.ok() && *right) << "graph " << n << ": " << right.status();
    }
  }

  void run(bool at_start);
};

void DirectoryTroubleTest::run(bool at_start) {
  ASSERT_TRUE(own_mounts());
  const std::string plain = compiler("plain", "");
  std::vector<Case> cases;
  for (const Trouble& trouble : troubles())
    if (!at_start || trouble.at_start) cases.push_back({trouble, path("cache" + std::to_string(cases.size()))});
  for (Case& c : cases) {
    SCOPED_TRACE(c.trouble.name);
    fs::create_directory(c.directory);
    fs::permissions(c.directory, fs::perms::owner_all);
    if (std::string(c.trouble.name) == "full") {
      ASSERT_TRUE(mount_memory(c.directory, "256k"));
    }
    if (at_start) c.trouble.make(c.directory);
    start(c, plain);
    if (!at_start) {
      expect_service(c, 0, 2);
      EXPECT_EQ(problem(*c.device), "");
      EXPECT_EQ(kernels_in(c.directory), 2u);
      EXPECT_EQ(count(c.server->log(), "cache_directory"), 0) << c.server->log();
      c.trouble.make(c.directory);
    }
  }
  for (Case& c : cases) {
    SCOPED_TRACE(c.trouble.name);
    expect_service(c, 0, 5);  // two of them from memory, where they were there before
    EXPECT_NE(problem(*c.device), "");
    EXPECT_GE(metric(*c.server, "uopd_store_errors_total"), 1);
  }
  std::this_thread::sleep_for(std::chrono::seconds(4));  // the directory is tried again every three, and still bad
  for (Case& c : cases) {
    SCOPED_TRACE(c.trouble.name);
    if (std::string(c.trouble.name) != "deleted") {
      expect_service(c, 8, 9);
      EXPECT_NE(problem(*c.device), "");
    }
    EXPECT_EQ(count(c.server->log(), "cache_directory_unusable"), 1) << c.server->log();
    EXPECT_EQ(count(c.server->log(), "cache_directory_usable_again"), 0) << c.server->log();
    c.trouble.cure(c.directory);
  }
  int next = 20;
  for (Case& c : cases) {
    SCOPED_TRACE(c.trouble.name);
    const bool gone = !fs::exists(c.directory);
    const std::size_t before = gone ? 0 : kernels_in(c.directory);
    EXPECT_TRUE(wait_until([&] {
      expect_service(c, next, next + 1);
      ++next;
      return fs::exists(c.directory) && kernels_in(c.directory) > before;
    }));
    EXPECT_EQ(problem(*c.device), "");
    EXPECT_EQ(count(c.server->log(), "cache_directory_unusable"), 1) << c.server->log();
    EXPECT_EQ(count(c.server->log(), "cache_directory_usable_again"), 1) << c.server->log();
  }
  std::vector<std::jthread> stopping;  // that of a server takes seconds
  for (Case& c : cases) stopping.emplace_back([&] { EXPECT_EQ(c.server->stop(), 0); });
}

TEST_F(DirectoryTroubleTest, WhileTheServerRuns) {
  run(false);
}

TEST_F(DirectoryTroubleTest, WhenTheServerStarts) {
  run(true);
}

}  // namespace
}  // namespace uop
