// The keyed hash: the numbers of other implementations of SipHash-1-3, and another hash for another key.
#include "core/support/keyed_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace uop {
namespace {

std::uint64_t hash_of(HashKey key, const std::vector<std::uint64_t>& words) {
  KeyedHash hash(key);
  for (const std::uint64_t word : words) hash.add(word);
  return hash.finish();
}

/// The bytes 0, 1, 2, … as words. With key 0 it is CPython's hash(bytes(range(n))) where PYTHONHASHSEED=0; with the key
/// 00 01 … 0f it is the first of Rust's test vectors.
TEST(KeyedHashTest, IsSipHash13) {
  struct Row {
    HashKey key;
    std::vector<std::uint64_t> words;
    std::uint64_t expected;
  };
  constexpr std::uint64_t k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908, k2 = 0x1716151413121110;
  const Row rows[] = {
      {{}, {k0}, 0xead411e67ebe2eea},
      {{}, {k0, k1}, 0x8972188433a5c5b7},
      {{}, {k0, k1, k2}, 0x31185a47af932f3a},
      {{k0, k1}, {}, 0xabac0158050fc4dc},
  };
  for (const Row& row : rows) EXPECT_EQ(hash_of(row.key, row.words), row.expected) << row.words.size() << " words";
}

TEST(KeyedHashTest, EveryKeyHashesDifferently) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; i++) seen.insert(hash_of(HashKey::random(), {1, 2, 3}));
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace uop
