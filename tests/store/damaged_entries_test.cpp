// Every kind of damage to every kind of file: never loaded, made again once, and then found.
#include "tests/store/store_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTrailer = 88;  // bytes; core/compile/store_file.h has the layout

class DamagedEntriesTest : public CacheDirectoryTest {
 protected:
  struct Counts {
    double compiles, plan_misses, bad;
  };

  /// Graph `n` in a new process's eyes; the answer is right.
  Counts look(int n) const {
    const auto device = open(options(counting_));
    const StatusOr<bool> right = run_numbered(*device, n);
    EXPECT_TRUE(right.ok() && *right) << right.status();
    return {status_number(*device, "kernel_compiles"), status_number(*device, "plan_misses"),
            status_number(*device, "store_bad_entries")};
  }

  static void overwrite(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  static std::string flipped(std::string bytes, std::size_t at) {
    bytes.at(at) = static_cast<char>(bytes[at] ^ 0x10);
    return bytes;
  }

  /// Replaces graph 0's entry of `kind` by these bytes and expects it to be made again, once.
  void expect_made_again(const std::string& kind, const std::string& about, const std::string& bytes) const {
    SCOPED_TRACE(kind + ", " + about);
    const fs::path file = entries(kind).at(0);
    const std::string good = testing::content_of(file);
    ASSERT_NE(bytes, good);
    overwrite(file, bytes);
    const Counts first = look(0), second = look(0);
    EXPECT_EQ(first.compiles, kind == "kernel" ? 1 : 0);
    EXPECT_EQ(first.plan_misses, kind == "plan" ? 1 : 0);
    EXPECT_EQ(first.bad, 1);
    EXPECT_EQ(second.compiles, 0);
    EXPECT_EQ(second.plan_misses, 0);
    EXPECT_EQ(second.bad, 0);
    if (kind == "plan") {
      EXPECT_EQ(testing::content_of(file), good);
    }
  }

  const std::string counting_ = counting_compiler();
};

TEST_F(DamagedEntriesTest, CutFlippedOrOfAnotherVersion) {
  look(0);
  for (const std::string kind : {"kernel", "plan"}) {
    ASSERT_EQ(entries(kind).size(), 1u);
    const std::string good = testing::content_of(entries(kind)[0]);
    const std::size_t size = good.size(), trailer = size - kTrailer;
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, size / 2, trailer, size - 1})
      expect_made_again(kind, "cut to " + std::to_string(length), good.substr(0, length));
    // In the header and the middle of the payload; in the trailer's magic, version, kind, key, length and digest.
    for (const std::size_t at : {std::size_t{5}, trailer / 2, trailer - 1, trailer, trailer + 8, trailer + 12,
                                 trailer + 16, trailer + 48, size - 1})
      expect_made_again(kind, "flipped at " + std::to_string(at), flipped(good, at));
    std::string other_version = good;
    other_version[trailer + 8] = 2;
    expect_made_again(kind, "another version of the format", other_version);
  }
}

/// Sound files whose payload is of no use: what a format without a new version number, or another C library, would
/// leave. They must not stay and be passed over for ever.
TEST_F(DamagedEntriesTest, SoundButUseless) {
  look(0);
  const auto store = ArtifactStore::open(cache(), 1 << 30);
  for (const std::string kind : {"kernel", "plan"}) {
    const fs::path file = entries(kind).at(0);
    const std::string good = testing::content_of(file);
    ASSERT_TRUE(fs::remove(file));
    ASSERT_TRUE(store->write(kind == "kernel" ? ArtifactKind::kKernel : ArtifactKind::kPlan,
                             *Digest::from_hex(file.stem().string()), "no message and no ELF file"));
    const std::string useless = testing::content_of(file);
    overwrite(file, good);
    expect_made_again(kind, "sound but useless", useless);
  }
}

TEST_F(DamagedEntriesTest, TwoEntriesThatChangedNames) {
  look(0);
  look(1);
  for (const std::string kind : {"kernel", "plan"}) {
    SCOPED_TRACE(kind);
    const auto files = entries(kind);
    ASSERT_EQ(files.size(), 2u);
    fs::rename(files[0], path("aside"));
    fs::rename(files[1], files[0]);
    fs::rename(path("aside"), files[1]);
    for (const double times : {1, 0})
      for (const int n : {0, 1}) {
        const Counts counts = look(n);
        EXPECT_EQ(counts.compiles, kind == "kernel" ? times : 0);
        EXPECT_EQ(counts.plan_misses, kind == "plan" ? times : 0);
        EXPECT_EQ(counts.bad, times);
      }
  }
}

}  // namespace
}  // namespace uop
