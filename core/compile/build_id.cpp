#include "core/compile/build_id.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/compile/file_descriptor.h"

namespace uop {
namespace {

constexpr std::uint64_t kMostNotes = 1 << 16;  // bytes; real files have some hundred

/// `out` from the bytes at `at`, where that many are there.
template <class T>
bool read_at(int fd, std::uint64_t at, T& out) {
  return ::pread(fd, &out, sizeof out, static_cast<off_t>(at)) == sizeof out;
}

/// A note is a header, a name and a description, the latter two padded to four bytes.
std::string build_id_among(std::string_view notes) {
  const auto padded = [](std::uint64_t n) { return (n + 3) / 4 * 4; };
  Elf64_Nhdr note{};
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    notes.remove_prefix(sizeof note);
    const std::uint64_t name = padded(note.n_namesz);
    if (name + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU\0", 4)))
      return std::string(notes.substr(name, note.n_descsz));
    notes.remove_prefix(std::min<std::uint64_t>(name + padded(note.n_descsz), notes.size()));
  }
  return "";
}

}  // namespace

std::string build_id_of(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Elf64_Ehdr header{};
  if (!fd.ok() || !read_at(fd.get(), 0, header)) return "";
  if (std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(fd.get(), header.e_phoff + i * sizeof segment, segment)) break;
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNotes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (::pread(fd.get(), notes.data(), notes.size(), static_cast<off_t>(segment.p_offset)) !=
        static_cast<ssize_t>(notes.size()))
      break;
    if (std::string id = build_id_among(notes); !id.empty()) return id;
  }
  return "";
}

}  // namespace uop
