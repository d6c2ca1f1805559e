#include "core/compile/loaded_kernel.h"

#include <dlfcn.h>

#include "core/compile/memory_file.h"
#include "core/compile/shared_object.h"
#include "core/support/fp_state.h"

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
  if (const auto problem = problem_of_shared_object(fd)) return broken(key, *problem);
  const FpState before = FpState::of_thread();
  void* handle = ::dlopen(unique_path(fd, key).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return broken(key, ::dlerror());
  if (FpState::of_thread() != before) {  // by a resolver of symbols: the one kind of code that still runs
    before.set();
    ::dlclose(handle);
    return broken(key, "loading it changed the floating-point state of the thread");
  }
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
