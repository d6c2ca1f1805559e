#include "core/compile/store_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace uop {
namespace {

constexpr std::string_view kMagic = "UOPSTORE";
constexpr std::uint32_t kVersion = 1;
constexpr off_t kMostFileBytes = off_t{1} << 30;  // no artifact comes near; bounds what a stray file can cost

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void put(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

}  // namespace

std::string trailer_of(std::uint32_t kind, const Digest& key, std::string_view payload) {
  std::string out(kMagic);
  put(out, kVersion);
  put(out, kind);
  put(out, key);
  put(out, static_cast<std::uint64_t>(payload.size()));
  put(out, sha256(payload));
  return out;
}

std::optional<std::size_t> verified_payload(std::uint32_t kind, const Digest& key, std::string_view file) {
  if (file.size() < kTrailerBytes) return std::nullopt;
  const std::string_view payload = file.substr(0, file.size() - kTrailerBytes);
  if (!file.substr(payload.size()).starts_with(kMagic)) return std::nullopt;  // not worth a digest
  if (file.substr(payload.size()) != trailer_of(kind, key, payload)) return std::nullopt;
  return payload.size();
}

std::optional<std::string> read_own_file(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostFileBytes) return std::nullopt;
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace uop
