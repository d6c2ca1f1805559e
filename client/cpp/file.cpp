#include "client/cpp/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace uop {

StatusOr<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || errno == EISDIR)
    return not_found("{} cannot be read: {}; check the path", path, std::strerror(errno));
  return content;
}

Status write_file(const std::string& path, std::string_view content) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.flush();
  if (!out)
    return error(StatusCode::kFailedPrecondition, "{} cannot be written: {}; check the path and the space left", path,
                 std::strerror(errno));
  return ok_status();
}

}  // namespace uop
