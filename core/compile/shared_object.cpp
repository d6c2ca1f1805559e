#include "core/compile/shared_object.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace uop {
namespace {

constexpr std::string_view kNotWhole = "it is not a whole shared object";

/// Reads structures of a file of known size; nothing where they are not within it.
class File {
 public:
  explicit File(int fd) : fd_(fd) {
    struct stat info {};
    if (::fstat(fd, &info) == 0) size_ = static_cast<std::uint64_t>(info.st_size);
  }
  bool holds(std::uint64_t offset, std::uint64_t bytes) const { return offset <= size_ && bytes <= size_ - offset; }

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    T value{};
    if (!holds(offset, sizeof value)) return std::nullopt;
    if (::pread(fd_, &value, sizeof value, static_cast<off_t>(offset)) != sizeof value) return std::nullopt;
    return value;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

std::optional<std::string_view> problem_of_tag(Elf64_Sxword tag) {
  switch (tag) {
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_PREINIT_ARRAY: return "it has code that runs when it is loaded, which could change the process";
    case DT_FINI:
    case DT_FINI_ARRAY: return "it has code that runs when it is unloaded, which could change the process";
    case DT_NEEDED: return "it needs another library";
    default: return std::nullopt;
  }
}

std::optional<std::string_view> problem_of_dynamic(const File& file, const Elf64_Phdr& segment) {
  for (std::uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn); ++i) {
    const auto entry = file.at<Elf64_Dyn>(segment.p_offset + i * sizeof(Elf64_Dyn));
    if (!entry) return kNotWhole;
    if (entry->d_tag == DT_NULL) break;
    if (const auto problem = problem_of_tag(entry->d_tag)) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> problem_of_shared_object(int fd) {
  const File file(fd);
  const auto header = file.at<Elf64_Ehdr>(0);
  if (!header) return kNotWhole;
  if (std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG) return kNotWhole;
  if (header->e_type != ET_DYN || header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0) return kNotWhole;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || !file.holds(segment->p_offset, segment->p_filesz)) return kNotWhole;
    if (segment->p_type != PT_DYNAMIC) continue;
    if (const auto problem = problem_of_dynamic(file, *segment)) return problem;
  }
  return std::nullopt;
}

}  // namespace uop
