// The artifact store on real files: what is written is read, what is damaged is a miss, what does not fit goes, and a
// directory that is not fit for use never fails anybody.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "core/compile/artifact_store.h"
#include "core/compile/store_file.h"
#include "tests/compile/compile_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

Digest key_of(int i) {
  return sha256("key " + std::to_string(i));
}

class StoreTest : public CompileTest {
 protected:
  std::unique_ptr<ArtifactStore> open_store(std::uint64_t max_bytes = 1 << 30) const {
    return ArtifactStore::open(store_path(), max_bytes, {.retry_after = 0ms, .use_granularity = 0s});
  }
  fs::path entry(const Digest& key, const std::string& extension = ".kernel") const {
    return fs::path(store_path()) / "v1" / key.hex().substr(0, 2) / (key.hex() + extension);
  }
  static std::string bytes_of(const fs::path& file) {
    std::stringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static void overwrite(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Sets the time of last use, in seconds.
  static void set_used(const fs::path& file, time_t seconds) {
    const timespec times[] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
};

TEST_F(StoreTest, ReadsBackAcrossInstances) {
  const std::string payload = std::string("bytes\0with zeros", 16);
  {
    const auto store = open_store();
    EXPECT_EQ(store->problem(), "");
    EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), payload));
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), payload));  // does nothing
    EXPECT_TRUE(store->write(ArtifactKind::kPlan, key_of(1), ""));
    EXPECT_EQ(store->stats().writes, 2u);
  }
  const auto store = open_store();
  EXPECT_EQ(store->read(ArtifactKind::kKernel, key_of(1)), payload);
  EXPECT_EQ(store->read(ArtifactKind::kPlan, key_of(1)), "");
  EXPECT_FALSE(store->read(ArtifactKind::kPlan, key_of(2)));
  const auto fd = store->open_verified(ArtifactKind::kKernel, key_of(1));
  ASSERT_TRUE(fd);
  std::string mapped(payload.size(), '?');
  EXPECT_EQ(pread(*fd, mapped.data(), mapped.size(), 0), static_cast<ssize_t>(payload.size()));
  EXPECT_EQ(mapped, payload);
  close(*fd);
  const auto stats = store->stats();
  EXPECT_EQ(stats.hits, 3u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.entries, 2u);
  EXPECT_EQ(stats.bytes, payload.size() + 2 * kTrailerBytes);
  EXPECT_EQ(store->list().size(), 2u);
  EXPECT_EQ(*store->clear(), 2u);
  EXPECT_TRUE(store->list().empty());
  EXPECT_EQ(store->stats().bytes, 0u);
}

TEST_F(StoreTest, FilesArePrivate) {
  const auto store = open_store();
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
  for (const auto& e : fs::recursive_directory_iterator(store_path()))
    EXPECT_EQ(e.status().permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none) << e;
}

TEST_F(StoreTest, EveryFlippedBitAndEveryCutIsAMissThatRepairsItself) {
  const auto store = open_store();
  const std::string payload = "some payload";
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), payload));
  const std::string good = bytes_of(entry(key_of(1)));
  ASSERT_EQ(good.size(), payload.size() + kTrailerBytes);
  std::uint64_t bad = 0;
  const auto expect_miss = [&](const std::string& bytes, const std::string& about) {
    SCOPED_TRACE(about);
    overwrite(entry(key_of(1)), bytes);
    EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
    EXPECT_FALSE(fs::exists(entry(key_of(1))));
    EXPECT_EQ(store->stats().bad_entries, ++bad);
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), payload));
    EXPECT_EQ(store->read(ArtifactKind::kKernel, key_of(1)), payload);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    expect_miss(bytes, "flipped byte " + std::to_string(i));
  }
  for (std::size_t length = 0; length < good.size(); length += 7)
    expect_miss(good.substr(0, length), "cut to " + std::to_string(length));
  expect_miss(good + "x", "one byte more");
  expect_miss("x" + good, "one byte before");
}

TEST_F(StoreTest, AnEntryUnderAnotherNameIsAMiss) {
  const auto store = open_store();
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "one"));
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(2), "two"));
  ASSERT_TRUE(store->write(ArtifactKind::kPlan, key_of(3), "three"));
  const std::string one = bytes_of(entry(key_of(1)));
  overwrite(entry(key_of(1)), bytes_of(entry(key_of(2))));
  overwrite(entry(key_of(2)), one);
  fs::create_directories(entry(key_of(3)).parent_path());
  overwrite(entry(key_of(3)), bytes_of(entry(key_of(3), ".plan")));  // a plan that poses as a kernel
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(i)));
  EXPECT_EQ(store->read(ArtifactKind::kPlan, key_of(3)), "three");
}

TEST_F(StoreTest, FilesThatOthersCouldHaveWrittenAreNotBelieved) {
  const auto store = open_store();
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "one"));
  ASSERT_EQ(chmod(entry(key_of(1)).c_str(), 0666), 0);
  EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "one"));
  fs::rename(entry(key_of(1)), path("elsewhere"));
  fs::create_symlink(path("elsewhere"), entry(key_of(1)));
  EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
}

TEST_F(StoreTest, VerifyFindsAndRemovesWhatIsBad) {
  const auto store = open_store();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(i), "payload"));
  overwrite(entry(key_of(1)), "rubbish");
  std::ofstream(entry(key_of(2)).parent_path() / "notes.txt") << "not the store's";
  const VerifyReport report = store->verify();
  EXPECT_EQ(report.checked, 3u);
  EXPECT_EQ(report.bad, std::vector<std::string>{key_of(1).hex() + ".kernel"});
  EXPECT_EQ(store->list().size(), 2u);
  EXPECT_EQ(store->stats().bytes, 2 * (7 + kTrailerBytes));
  EXPECT_TRUE(store->verify().bad.empty());
}

TEST_F(StoreTest, TheLeastRecentlyUsedGo) {
  const std::string payload(1000, 'p');
  const std::uint64_t entry_bytes = payload.size() + kTrailerBytes;
  const auto store = open_store(4 * entry_bytes + 400);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(i), payload));
    set_used(entry(key_of(i)), 1000 + i);
  }
  EXPECT_EQ(store->stats().evictions, 0u);
  EXPECT_TRUE(store->read(ArtifactKind::kKernel, key_of(0)));  // now the most recently used
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(4), payload));
  EXPECT_EQ(store->stats().evictions, 1u);
  EXPECT_FALSE(store->contains(ArtifactKind::kKernel, key_of(1)));
  for (const int kept : {0, 2, 3, 4}) EXPECT_TRUE(store->contains(ArtifactKind::kKernel, key_of(kept))) << kept;
  EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(5), std::string(5 * entry_bytes, 'x')));
  EXPECT_EQ(store->stats().entries, 4u);
}

TEST_F(StoreTest, TheBoundHoldsForSeveralWriters) {
  const std::string payload(1000, 'p');
  const std::uint64_t entry_bytes = payload.size() + kTrailerBytes, bound = 20 * entry_bytes;
  const std::unique_ptr<ArtifactStore> stores[] = {open_store(bound), open_store(bound)};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(stores[i % 2]->write(ArtifactKind::kKernel, key_of(i), payload));
    std::uint64_t bytes = 0;
    for (const auto& e : stores[0]->list()) bytes += e.bytes;
    ASSERT_LE(bytes, bound + entry_bytes) << i;
  }
  EXPECT_GE(stores[0]->list().size(), 15u);
  // A smaller bound is kept from the start.
  EXPECT_LE(open_store(5 * entry_bytes)->stats().bytes, 5 * entry_bytes);
}

TEST_F(StoreTest, RecordsAreReplacedAndNeverEvicted) {
  const auto store = open_store(1);
  EXPECT_FALSE(store->read_record("name"));
  EXPECT_TRUE(store->write_record("name", "first"));
  EXPECT_TRUE(store->write_record("name", "second"));
  EXPECT_EQ(open_store(1)->read_record("name"), "second");
  EXPECT_FALSE(store->read_record("other"));
  const fs::path file = fs::path(store_path()) / "v1/records/name";
  fs::copy_file(file, fs::path(store_path()) / "v1/records/other");
  EXPECT_FALSE(store->read_record("other"));
  overwrite(file, "rubbish");
  EXPECT_FALSE(store->read_record("name"));
}

TEST_F(StoreTest, ScratchOfTheDeadIsRemovedAndThatOfTheLivingKept) {
  const auto living = open_store();
  ASSERT_TRUE(fs::is_directory(living->scratch()));
  const fs::path tmp = fs::path(living->scratch()).parent_path();
  fs::create_directories(tmp / "12345-dead" / "deeper");
  std::ofstream(tmp / "12345-dead" / "file") << "half a kernel";
  std::ofstream(tmp.parent_path() / "claims" / key_of(1).hex()) << "";
  const auto second = open_store();
  EXPECT_FALSE(fs::exists(tmp / "12345-dead"));
  EXPECT_TRUE(files_below(tmp.parent_path() / "claims").empty());
  EXPECT_TRUE(fs::is_directory(living->scratch()));
  EXPECT_NE(living->scratch(), second->scratch());
  const std::string gone = second->scratch();
  EXPECT_TRUE(fs::is_directory(gone));
}

TEST_F(StoreTest, NothingIsLeftWhenStoresClose) {
  { open_store()->write(ArtifactKind::kKernel, key_of(1), "x"); }
  EXPECT_TRUE(files_below(fs::path(store_path()) / "v1/tmp").empty());
}

TEST_F(StoreTest, ADirectoryThatOthersCanWriteIsRefused) {
  for (const mode_t mode : {0770, 0707, 0777}) {
    fs::create_directories(store_path());
    ASSERT_EQ(chmod(store_path().c_str(), mode), 0);
    const auto store = open_store();
    EXPECT_NE(store->problem().find("others can write"), std::string::npos) << store->problem();
    EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
    EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
    EXPECT_EQ(store->scratch(), "");
    EXPECT_TRUE(files_below(store_path()).empty());
    ASSERT_EQ(chmod(store_path().c_str(), 0700), 0);  // the remedy works without a restart
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
    EXPECT_EQ(store->problem(), "");
    fs::remove_all(store_path());
  }
}

TEST_F(StoreTest, AnotherUsersDirectoryIsRefused) {
  if (geteuid() != 0) return;  // only root can make one
  fs::create_directories(store_path());
  ASSERT_EQ(chown(store_path().c_str(), 65534, 65534), 0);
  const auto store = open_store();
  EXPECT_NE(store->problem().find("belongs to user 65534"), std::string::npos) << store->problem();
  EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
}

TEST_F(StoreTest, APlainFileInPlaceOfTheDirectory) {
  std::ofstream(path("store")) << "a file";
  const auto store = open_store();
  EXPECT_NE(store->problem(), "");
  EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
  EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));
  EXPECT_TRUE(store->list().empty());
  EXPECT_EQ(*store->clear(), 0u);
  fs::remove(path("store"));
  EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
  EXPECT_EQ(store->problem(), "");
}

TEST_F(StoreTest, ADeletedDirectoryComesBack) {
  const auto store = open_store();
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x"));
  fs::remove_all(store_path());
  EXPECT_FALSE(store->read(ArtifactKind::kKernel, key_of(1)));  // notices
  EXPECT_EQ(store->stats().errors, 1u);
  EXPECT_NE(store->problem(), "");
  EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x"));  // recovers
  EXPECT_EQ(store->problem(), "");
  EXPECT_EQ(store->read(ArtifactKind::kKernel, key_of(1)), "x");
}

TEST_F(StoreTest, AReadOnlyDirectoryIsReadAndNotWritten) {
  // Root may write anywhere, so root becomes somebody else for this test.
  const uid_t user = geteuid();
  fs::create_directories(store_path());
  if (user == 0) {
    ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
    ASSERT_EQ(chown(store_path().c_str(), 65534, 65534), 0);
    ASSERT_EQ(seteuid(65534), 0);
  }
  {
    const auto store = open_store();
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "x")) << store->problem();
  }
  std::vector<fs::path> directories = {store_path()};
  for (const auto& e : fs::recursive_directory_iterator(store_path()))
    if (e.is_directory()) directories.push_back(e.path());
  for (const fs::path& d : directories) EXPECT_EQ(chmod(d.c_str(), 0500), 0);
  {
    const auto store = open_store();
    EXPECT_NE(store->problem(), "");
    EXPECT_EQ(store->read(ArtifactKind::kKernel, key_of(1)), "x");
    EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(2), "x"));
    for (const fs::path& d : directories) EXPECT_EQ(chmod(d.c_str(), 0700), 0);
    EXPECT_TRUE(store->write(ArtifactKind::kKernel, key_of(2), "x"));
    EXPECT_EQ(store->problem(), "");
  }
  ASSERT_EQ(seteuid(user), 0);
}

TEST_F(StoreTest, AFullDiskCostsMissesOnly) {
  const auto store = ArtifactStore::open(store_path(), 1 << 30, {.retry_after = 1h, .use_granularity = 0s});
  ASSERT_TRUE(store->write(ArtifactKind::kKernel, key_of(1), "before"));
  // A limit on the size of files stands in for a full disk: write(2) fails in the same place.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit small{100, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 2; i < 10; ++i) EXPECT_FALSE(store->write(ArtifactKind::kKernel, key_of(i), std::string(1000, 'x')));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(store->stats().errors, 1u);  // one try; the others wait for the retry
  EXPECT_NE(store->problem(), "");
  EXPECT_EQ(store->scratch(), "");
  EXPECT_EQ(store->read(ArtifactKind::kKernel, key_of(1)), "before");
  EXPECT_EQ(store->list().size(), 1u);
  for (const std::string& f : files_below(fs::path(store_path()) / "v1/tmp")) EXPECT_TRUE(fs::is_directory(f)) << f;
}

}  // namespace
}  // namespace uop
