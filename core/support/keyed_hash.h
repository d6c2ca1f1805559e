// SipHash-1-3 (Aumasson, Bernstein 2012) over 64-bit words: a hash whose collisions nobody can choose who does not know
// its key. For tables whose entries come from a client; not a digest.
//
// KeyedHash::add and finish are what others call.
#pragma once

#include <bit>
#include <cstdint>

namespace uop {

struct HashKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// From the system's source of randomness.
  static HashKey random();
};

class KeyedHash {
 public:
  explicit KeyedHash(HashKey key)
      : a_(key.low ^ 0x736f6d6570736575u),
        b_(key.high ^ 0x646f72616e646f6du),
        c_(key.low ^ 0x6c7967656e657261u),
        d_(key.high ^ 0x7465646279746573u) {}

  void add(std::uint64_t word) {
    absorb(word);
    words_++;
  }

  std::uint64_t finish() {
    absorb(words_ << 59);  // the length in bytes, in the highest byte
    c_ ^= 0xff;
    for (int i = 0; i < 3; i++) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void absorb(std::uint64_t word) {
    d_ ^= word;
    round();
    a_ ^= word;
  }

  void round() {
    a_ += b_;
    c_ += d_;
    b_ = std::rotl(b_, 13) ^ a_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ = std::rotl(a_, 32);
    c_ += b_;
    a_ += d_;
    b_ = std::rotl(b_, 17) ^ c_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ = std::rotl(c_, 32);
  }

  std::uint64_t a_, b_, c_, d_;
  std::uint64_t words_ = 0;
};

}  // namespace uop
