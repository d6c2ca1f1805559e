// Compilers that misbehave: each costs the request that ran it, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/compile/kernel_library.h"
#include "tests/compile/compile_fixture.h"

namespace uop {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompilerFailureTest : public KernelLibraryTest {};

TEST_F(CompilerFailureTest, RefusedTextIsQuotedAndLeavesNothing) {
  const auto library = open(options());
  const auto result = library->load({"void UOP_ENTRY( this is no C\n"}, {});
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
  EXPECT_THAT(message(result.status()), HasSubstr("error:"));
  EXPECT_EQ(library->stats().compile_failures, 1u);
  EXPECT_EQ(library->store().stats().entries, 0u);
  expect_tidy();
  EXPECT_TRUE(library->load(constant_kernel(1), {}).ok());
}

TEST_F(CompilerFailureTest, CompilersThatMisbehave) {
  struct Row {
    const char* about;
    const char* body;
    StatusCode code;
    const char* says;
  };
  for (const Row& row : std::vector<Row>{
           {"hangs", "sleep 1000", StatusCode::kResourceExhausted, "time limit"},
           {"prints 100 MB", "head -c 100000000 /dev/zero; exit 1", StatusCode::kInternal, "printed more than"},
           {"is killed", "kill -KILL $$", StatusCode::kResourceExhausted, "was killed"},
           {"crashes", "kill -SEGV $$", StatusCode::kInternal, "crashed with signal 11"},
           {"fails silently", "exit 3", StatusCode::kInternal, "exit code 3; it said nothing"},
           {"writes nothing", "exit 0", StatusCode::kInternal, "wrote nothing"},
           {"writes rubbish", "echo rubbish > $out", StatusCode::kInternal, "not a whole shared object"},
           {"writes half a file", "gcc \"$@\" && truncate -s 500 $out", StatusCode::kInternal, "not a whole"},
           {"writes an object", "gcc -c \"$@\"", StatusCode::kInternal, "not a whole shared object"},
           {"forgets the entry", "gcc \"$@\" -UUOP_ENTRY", StatusCode::kInternal, "lacks the entry point"},
           {"leaves a symbol open",
            "gcc \"$@\" -DUOP_ENTRY=g -Wl,-u,nowhere_to_be_found -Wl,--defsym=x=nowhere_to_be_found",
            StatusCode::kInternal, ""},
       }) {
    SCOPED_TRACE(row.about);
    EngineOptions o = options(script("bad", row.body));
    if (std::string(row.about) == "hangs") o.compile_timeout_ms = 1000;
    const auto library = open(o);
    const std::size_t descriptors = open_descriptors();
    const auto result = library->load(constant_kernel(1), {});
    EXPECT_EQ(result.status().code(), row.code) << result.status();
    EXPECT_THAT(message(result.status()), HasSubstr(row.says));
    EXPECT_LT(message(result.status()).size(), 4096u);
    EXPECT_EQ(library->stats().compiles, 1u);
    EXPECT_EQ(library->stats().compile_failures, 1u);
    EXPECT_EQ(library->stats().loaded, 0u);
    EXPECT_EQ(library->store().stats().entries, 0u);
    EXPECT_EQ(open_descriptors(), descriptors);
    expect_tidy();
  }
}

TEST_F(CompilerFailureTest, ACompilerThatVanishes) {
  const std::string compiler = counting_compiler();
  const auto library = open(options(compiler));
  fs::remove(compiler);
  EXPECT_EQ(library->load(constant_kernel(1), {}).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(CompilerFailureTest, WhatAReplacedCompilerMakesIsNotStored) {
  const std::string compiler = counting_compiler();
  const auto library = open(options(compiler));
  script("counting", "exec gcc \"$@\" -O0");
  const auto result = library->load(constant_kernel(1), {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(library->store().stats().entries, 0u);
}

TEST_F(CompilerFailureTest, LoadAllStopsAtTheFirstError) {
  const auto library =
      open(options(script("picky", "text=$(cat); case \"$text\" in *' = 1;'*) exit 1;; esac; sleep 1000")));
  const auto result = library->load_all({constant_kernel(2), constant_kernel(1), constant_kernel(3)}, {});
  EXPECT_EQ(result.status().code(), StatusCode::kInternal) << result.status();
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(library->load_all({constant_kernel(4), constant_kernel(5)}, {source.get_token(), {}}).status().code(),
            StatusCode::kCancelled);
  expect_tidy();
}

}  // namespace
}  // namespace uop
