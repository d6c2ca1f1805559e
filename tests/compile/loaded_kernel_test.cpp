// Kernels in the process: each answers for itself only, and loading one leaves no trace in the process.
#include "core/compile/loaded_kernel.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "core/compile/file_descriptor.h"
#include "core/compile/memory_file.h"
#include "tests/compile/loaded_kernel_fixture.h"

namespace uop {
namespace {

TEST_F(LoadedKernelTest, OneDescriptorNumberManyKernels) {
  // The dynamic loader takes a path that it has seen for the file that it has loaded.
  std::vector<LoadedKernelPtr> kernels;
  int number = -1;
  for (int i = 0; i < 4; ++i) {
    const Digest key = sha256(std::to_string(i));
    const std::string bytes = compile(constant_kernel(i), key);
    const auto file = memory_file(bytes);
    ASSERT_TRUE(file.ok());
    if (number < 0) number = file->get();
    EXPECT_EQ(file->get(), number);
    kernels.push_back(*load_kernel(file->get(), key, live_));
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(run_constant(*kernels[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(*live_, 4u);
  kernels.clear();
  EXPECT_EQ(*live_, 0u);
}

TEST_F(LoadedKernelTest, AFileIsLoadedAfterItsDescriptorIsClosedAndItsNameGone) {
  const Digest key = sha256("file");
  const std::string bytes = compile(constant_kernel(8), key);
  std::ofstream(path("kernel"), std::ios::binary) << bytes;
  FileDescriptor fd(::open(path("kernel").c_str(), O_RDONLY | O_CLOEXEC));
  const auto kernel = load_kernel(fd.get(), key, live_);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  fd.reset();
  std::filesystem::remove(path("kernel"));
  EXPECT_EQ(run_constant(**kernel), 8);
}

TEST_F(LoadedKernelTest, CutFilesAreRefused) {
  const Digest key = sha256("cut");
  const std::string bytes = compile(constant_kernel(8), key);
  // The segments fill the first part of the file; the loader does not read what follows them.
  for (std::size_t length = 0; length < bytes.size() / 4; length += 17)
    EXPECT_FALSE(load_kernel(bytes.substr(0, length), key, live_).ok()) << length;
  EXPECT_FALSE(load_kernel(bytes, sha256("another"), live_).ok());  // not the symbol
  EXPECT_EQ(*live_, 0u);
}

TEST_F(LoadedKernelTest, LibraryFunctionsThatTheCompilerInvents) {
  const auto kernel = load({"void UOP_ENTRY(void *const *b, const long *v, long begin, long end) {\n"
                            "  char *to = b[0], *from = b[1];\n"
                            "  for (long i = 0; i < end; i++) to[i] = 0;\n"
                            "  __builtin_memcpy(to + begin, from + begin, (unsigned long)v[0]);\n"
                            "  to[0] = (char)__builtin_popcountl((unsigned long)v[0]);\n"
                            "}\n"},
                           machine_is_x86() ? "x86-64" : "native");
  std::string to(5000, 'x'), from(5000, 'y');
  void* buffers[] = {to.data(), from.data()};
  const std::int64_t count = 1000;
  kernel->entry()(buffers, &count, 100, 5000);
  EXPECT_EQ(to, "\6" + std::string(99, '\0') + std::string(1000, 'y') + std::string(3900, '\0'));
}

TEST_F(LoadedKernelTest, StrictForbidsContraction) {
  const std::string text =
      "void UOP_ENTRY(void *const *b, const long *v, long begin, long end) {\n"
      "  const double *x = b[1]; *(double *)b[0] = x[0] * x[1] + x[2];\n"
      "}\n";
  double in[] = {1 + 0x1p-30, 1 + 0x1p-30, -1}, out = 0;
  void* buffers[] = {&out, in};
  load({text, true})->entry()(buffers, nullptr, 0, 0);
  volatile double product = in[0] * in[1];
  EXPECT_EQ(out, product + in[2]);
}

TEST_F(LoadedKernelTest, IntegersWrapAndDenormalsStay) {
  const auto kernel =
      load({"void UOP_ENTRY(void *const *b, const long *v, long begin, long end) {\n"
            "  int *i = b[0]; float *f = b[1];\n"
            "  i[1] = i[0] + 1 > i[0]; i[0] += 1; f[0] *= 0.5f;\n"
            "}\n"});
  int i[] = {2147483647, 7};
  float f = 1e-40f;
  void* buffers[] = {i, &f};
  kernel->entry()(buffers, nullptr, 0, 0);
  EXPECT_EQ(i[0], -2147483647 - 1);
  EXPECT_EQ(i[1], 0);
  EXPECT_EQ(f, 1e-40f * 0.5f);
  EXPECT_NE(f, 0);
}

#if defined(__x86_64__)
TEST_F(LoadedKernelTest, EveryLevelUpToTheMachinesRuns) {
  for (const char* level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    EngineOptions o = options();
    o.cpu = level;
    if (!find_toolchain(o).ok()) break;  // above this machine's
    EXPECT_EQ(run_constant(*load(constant_kernel(4), level)), 4);
  }
}
#endif

}  // namespace
}  // namespace uop
