// The files that fuzzing starts from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace uop::fuzz {

/// The files of a directory in the order of their names.
inline std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& e : std::filesystem::directory_iterator(directory)) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace uop::fuzz
