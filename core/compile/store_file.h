// The format of one file of the store: the payload as it is, so that a .so can be mapped, then a trailer.
//
//   payload | "UOPSTORE" | version u32 | kind u32 | key, 32 bytes | payload length u64 | SHA-256 of the payload
//
// Numbers are little-endian; the trailer has 88 bytes. Every byte of a file is either covered by the digest or
// compared with what it must be, so that a flipped bit anywhere, a file cut short, or one under another's name shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/digest.h"

namespace uop {

inline constexpr std::size_t kTrailerBytes = 88;

/// The trailer that follows `payload`.
std::string trailer_of(std::uint32_t kind, const Digest& key, std::string_view payload);

/// The length of the payload where `file` is sound and of this kind and key.
std::optional<std::size_t> verified_payload(std::uint32_t kind, const Digest& key, std::string_view file);

/// Reads the whole of an open regular file that belongs to this user and that no other may write; nothing where it is
/// something else, or cannot be read. The position of the descriptor does not matter and does not move.
std::optional<std::string> read_own_file(int fd);

}  // namespace uop
