// uop_fuzz_compiled: the inputs of graph_result in some directories, compiled, run and compared with the reference, for
// as long as told; exit code 1 where one is wrong. scripts/fuzz runs it as its target graph_compiled.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <random>

#include "tests/fuzz/compiled.h"
#include "tests/fuzz/corpus.h"

int main(int argc, char** argv) {
  std::vector<std::string> directories;
  double seconds = 60;
  unsigned seed = 1;
  CLI::App app{"Compiles and runs the graphs of graph_result's corpus against the reference interpreter"};
  app.add_option("directories", directories, "where the inputs are")->required()->check(CLI::ExistingDirectory);
  app.add_option("--seconds", seconds, "how long to go on at most")->capture_default_str();
  app.add_option("--seed", seed, "of the order in which they are taken")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  std::vector<std::filesystem::path> files;
  for (const std::string& directory : directories)
    for (const std::filesystem::path& file : uop::fuzz::files_of(directory)) files.push_back(file);
  std::shuffle(files.begin(), files.end(), std::mt19937(seed));
  const std::filesystem::path cache =
      std::filesystem::temp_directory_path() / ("uop_fuzz_compiled_" + std::to_string(getpid()));
  std::size_t done = 0, wrong = 0;
  {
    uop::reference::Differential engines(cache);
    const auto start = std::chrono::steady_clock::now();
    for (; done < files.size(); done++) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
      const auto problem = uop::fuzz::compiled_problem(engines, uop::fuzz::bytes_of(files[done]));
      if (!problem) continue;
      wrong++;
      fmt::print("WRONG: {}\n{}\n\n", files[done].string(), *problem);
      std::fflush(stdout);
    }
  }
  std::filesystem::remove_all(cache);
  fmt::print("{} of {} graphs compiled and run: {} wrong\n", done, files.size(), wrong);
  return wrong == 0 ? 0 : 1;
}
