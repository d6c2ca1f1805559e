// What is refused before it runs: objects with code of their own at load, and the floating-point state after any load.
#include "core/compile/shared_object.h"

#include <gmock/gmock.h>

#include "core/compile/memory_file.h"
#include "core/support/fp_state.h"
#include "tests/compile/loaded_kernel_fixture.h"

namespace uop {
namespace {

using testing::HasSubstr;

class SharedObjectTest : public LoadedKernelTest {
 protected:
  static std::string problem(std::string_view bytes) {
    const auto file = memory_file(bytes);
    EXPECT_TRUE(file.ok()) << file.status();
    return std::string(problem_of_shared_object(file->get()).value_or(""));
  }

  /// The kernel with `more` before it.
  static KernelSource with(const std::string& more) { return {more + constant_kernel(5).text}; }
};

TEST_F(SharedObjectTest, OurKernelsRunNothingAtLoad) {
  for (const bool strict : {false, true})
    EXPECT_EQ(problem(compile({constant_kernel(5).text, strict}, sha256("ours"))), "");
}

TEST_F(SharedObjectTest, CodeAtLoadOrUnloadIsRefused) {
  const struct {
    const char* text;
    const char* expected;
  } rows[] = {
      {"__attribute__((constructor)) static void run(void) { __builtin_ia32_ldmxcsr(0x9FC0); }\n", "when it is loaded"},
      {"void _init(void) { __builtin_ia32_ldmxcsr(0x9FC0); }\n", "when it is loaded"},
      {"__attribute__((destructor)) static void run(void) { __builtin_ia32_ldmxcsr(0x9FC0); }\n",
       "when it is unloaded"},
      {"void _fini(void) { __builtin_ia32_ldmxcsr(0x9FC0); }\n", "when it is unloaded"},
  };
  for (const auto& row : rows) {
    const Digest key = sha256(row.text);
    const std::string bytes = compile(with(row.text), key);
    EXPECT_THAT(problem(bytes), HasSubstr(row.expected)) << row.text;
    const Status status = load_kernel(bytes, key, live_).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(message(status), HasSubstr(row.expected));
    EXPECT_EQ(FpState::of_thread(), FpState{});
  }
  EXPECT_EQ(*live_, 0u);
}

#if defined(__x86_64__)
// What gcc makes of -ffast-math without -nostdlib: a start object that turns on flush-to-zero in whoever loads it.
TEST_F(SharedObjectTest, ACompilerThatLinksFastMathStartFilesIsRefused) {
  const std::string fast = script("fast",
                                  "for a; do shift; [ \"$a\" = -nostdlib ] || set -- \"$@\" \"$a\"; done\n"
                                  "exec gcc -ffast-math \"$@\"");
  const Digest key = sha256("fast");
  const std::string bytes = compile(constant_kernel(5), key, "native", fast);
  EXPECT_THAT(bytes, HasSubstr("set_fast_math"));
  const Status status = load_kernel(bytes, key, live_).status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(FpState::of_thread(), FpState{});

  const auto library = open(options(fast));
  EXPECT_EQ(library->load(constant_kernel(5), {}).status().code(), StatusCode::kInternal);
  EXPECT_EQ(library->stats().compile_failures, 1u);
  EXPECT_EQ(library->stats().store_bytes, 0u);  // and no other process gets it
}

// A resolver of an indirect function is no start code, and runs at load all the same.
TEST_F(SharedObjectTest, AResolverThatChangesTheStateIsRefusedAndNeutralised) {
  for (const char* change :
       {"__builtin_ia32_ldmxcsr(0x9FC0);", "unsigned short w = 0x7F; __asm__ volatile(\"fldcw %0\" : : \"m\"(w));"}) {
    const std::string text = fmt::format(
        "static int five(void) {{ return 5; }}\n"
        "static void *resolve(void) {{ {} return five; }}\n"
        "int indirect(void) __attribute__((ifunc(\"resolve\")));\n"
        "void UOP_ENTRY(void *const *b, const long *v, long begin, long end) {{ *(int *)b[0] = indirect(); }}\n",
        change);
    const Digest key = sha256(text);
    const Status status = load_kernel(compile({text}, key), key, live_).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(message(status), HasSubstr("floating-point state")) << change;
    EXPECT_EQ(FpState::of_thread(), FpState{}) << change;
  }
  EXPECT_EQ(*live_, 0u);
}

TEST_F(SharedObjectTest, LoadingRunningAndUnloadingKeepTheState) {
  FpState flushing;
  flushing.mxcsr |= 0x8040;
  for (const FpState& state : {FpState{}, flushing}) {
    state.set();
    FpState loaded, ran;
    {
      const auto kernel = load(constant_kernel(1));
      loaded = FpState::of_thread();
      run_constant(*kernel);
      ran = FpState::of_thread();
    }
    const FpState unloaded = FpState::of_thread();
    FpState{}.set();
    EXPECT_EQ(loaded, state);
    EXPECT_EQ(ran, state);
    EXPECT_EQ(unloaded, state);
  }
}
#endif

TEST_F(SharedObjectTest, AnotherLibraryIsRefused) {
  const std::string linking = script("linking", "exec gcc \"$@\" -Wl,--no-as-needed -lm");
  const std::string bytes = compile(constant_kernel(5), sha256("m"), "native", linking);
  EXPECT_EQ(problem(bytes), "it needs another library");
}

TEST_F(SharedObjectTest, BytesThatAreNoObject) {
  const std::string bytes = compile(constant_kernel(5), sha256("cut"));
  EXPECT_EQ(problem(bytes), "");
  for (const std::string& other : {std::string(),
                                   std::string("\x7F"
                                               "ELF"),
                                   std::string(1000, '\0'), bytes.substr(1), bytes.substr(0, 63), bytes.substr(0, 400)})
    EXPECT_EQ(problem(other), "it is not a whole shared object");
}

}  // namespace
}  // namespace uop
