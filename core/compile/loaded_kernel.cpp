#include "core/compile/loaded_kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/compile/memory_file.h"

namespace uop {
namespace {

class MappedKernel final : public LoadedKernel {
 public:
  MappedKernel(void* handle, void* symbol, const Digest& digest, LiveCount live)
      : handle_(handle), entry_(reinterpret_cast<KernelEntry>(symbol)), key_(digest), live_(std::move(live)) {
    ++*live_;
  }
  ~MappedKernel() override {
    ::dlclose(handle_);
    --*live_;
  }
  KernelEntry entry() const override { return entry_; }
  const Digest& key() const override { return key_; }

 private:
  void* handle_;
  KernelEntry entry_;
  Digest key_;
  LiveCount live_;
};

/// Whether the file is a shared object whose every segment lies within it. The loader maps segments without looking
/// at the file's length, and touching a page beyond it is a SIGBUS.
bool is_whole_shared_object(int fd) {
  struct stat info {};
  Elf64_Ehdr header{};
  if (::fstat(fd, &info) != 0 || ::pread(fd, &header, sizeof header, 0) != sizeof header) return false;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG) return false;
  if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return false;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > size || ::pread(fd, &segment, sizeof segment, static_cast<off_t>(at)) != sizeof segment) return false;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return false;
  }
  return true;
}

/// A path to the descriptor that no other kernel has. The loader takes a name it knows for the object it knows, and
/// descriptor numbers come back; so the key is spelled into the path by separators that mean nothing to the system.
std::string unique_path(int fd, const Digest& key) {
  std::string path = "/proc/self/fd";
  for (std::size_t i = 0; i < 16; ++i)
    for (int bit = 0; bit < 8; ++bit) path += (key.bytes[i] >> bit & 1) != 0 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

Status broken(const Digest& key, std::string_view why) {
  return error(StatusCode::kInternal,
               "kernel {} does not load: {}; check the compiler, and clear the cache if this stays", key.hex(), why);
}

}  // namespace

std::string kernel_symbol(const Digest& key) {
  return "uop_k_" + key.hex().substr(0, 32);
}

StatusOr<LoadedKernelPtr> load_kernel(int fd, const Digest& key, const LiveCount& live) {
  if (!is_whole_shared_object(fd)) return broken(key, "it is not a whole shared object");
  void* handle = ::dlopen(unique_path(fd, key).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return broken(key, ::dlerror());
  void* symbol = ::dlsym(handle, kernel_symbol(key).c_str());
  if (symbol == nullptr) {
    ::dlclose(handle);
    return broken(key, "it lacks the entry point " + kernel_symbol(key));
  }
  return std::make_shared<MappedKernel>(handle, symbol, key, live);
}

StatusOr<LoadedKernelPtr> load_kernel(std::string_view bytes, const Digest& key, const LiveCount& live) {
  const auto file = memory_file(bytes);
  if (!file.ok()) return file.status();
  return load_kernel(file->get(), key, live);
}

}  // namespace uop
