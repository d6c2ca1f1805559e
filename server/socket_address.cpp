#include "server/socket_address.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <charconv>
#include <cstring>
#include <optional>

namespace uop {
namespace {

using boost::asio::ip::tcp;
using LocalEndpoint = boost::asio::local::stream_protocol::endpoint;

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

/// A socket until it is given away.
class Socket {
 public:
  explicit Socket(int family) : fd_(::socket(family, kSocketFlags, 0)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void set(int level, int option, int value) { ::setsockopt(fd_, level, option, &value, sizeof value); }

 private:
  int fd_;
};

Status cannot_listen(const std::string& address, std::string_view remedy) {
  const int why = errno;
  return error(StatusCode::kUnavailable, "cannot listen on {}: {}; {}", address, std::strerror(why), remedy);
}

std::optional<tcp::endpoint> parse_tcp(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, failed] = std::from_chars(text.data() + colon + 1, end, port);
  boost::system::error_code no_address;
  const auto ip = boost::asio::ip::make_address(host, no_address);
  if (failed != std::errc() || parsed != end || no_address) return std::nullopt;
  return tcp::endpoint(ip, port);
}

std::string text_of(const tcp::endpoint& e) {
  return fmt::format(fmt::runtime(e.address().is_v6() ? "[{}]:{}" : "{}:{}"), e.address().to_string(), e.port());
}

/// Whether somebody accepts connections there.
bool is_alive(const LocalEndpoint& endpoint) {
  const Socket probe(AF_UNIX);
  return ::connect(probe.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 || errno == EAGAIN;
}

/// Removes what a dead server left at the path.
Status clear_path(const std::string& path, const LocalEndpoint& endpoint) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return ok_status();
  if (!S_ISSOCK(found.st_mode))
    return invalid_argument("cannot listen on unix:{}: there is a file that is no socket; give --unix another path",
                            path);
  if (is_alive(endpoint)) {
    errno = EADDRINUSE;
    return cannot_listen("unix:" + path, "stop the server that listens there, or give --unix another path");
  }
  ::unlink(path.c_str());
  return ok_status();
}

}  // namespace

StatusOr<ListeningSocket> listen_tcp(const std::string& address) {
  const std::optional<tcp::endpoint> wanted = parse_tcp(address);
  if (!wanted)
    return invalid_argument("'{}' is no address to listen on; give host:port with a numeric host, as 127.0.0.1:9470",
                            address);
  const char* const remedy = "stop the server that listens there, or give another address (port 0: any that is free)";
  Socket socket(wanted->protocol().family());
  socket.set(SOL_SOCKET, SO_REUSEADDR, 1);  // past connections in TIME_WAIT do not matter; a live listener still does
  if (::bind(socket.fd(), wanted->data(), static_cast<socklen_t>(wanted->size())) != 0 ||
      ::listen(socket.fd(), SOMAXCONN) != 0)
    return cannot_listen(address, remedy);
  tcp::endpoint actual = *wanted;
  auto size = static_cast<socklen_t>(actual.capacity());
  if (::getsockname(socket.fd(), actual.data(), &size) != 0) return cannot_listen(address, remedy);
  return ListeningSocket{socket.release(), text_of(actual)};
}

StatusOr<ListeningSocket> listen_unix(const std::string& path) {
  LocalEndpoint endpoint;
  if (path.size() >= endpoint.capacity() - sizeof(sa_family_t))
    return invalid_argument(
        "cannot listen on unix:{}: the path has {} bytes, a socket's at most {}; give --unix a shorter one", path,
        path.size(), endpoint.capacity() - sizeof(sa_family_t) - 1);
  endpoint.path(path);
  if (const Status s = clear_path(path, endpoint); !s.ok()) return s;
  Socket socket(AF_UNIX);
  // Nobody can connect before listen, so the mode is right from the first connection on.
  if (::bind(socket.fd(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(socket.fd(), SOMAXCONN) != 0)
    return cannot_listen("unix:" + path, "give --unix a path in a directory that exists and may be written");
  return ListeningSocket{socket.release(), path};
}

bool is_loopback(const std::string& address) {
  const std::optional<tcp::endpoint> endpoint = parse_tcp(address);
  return endpoint && endpoint->address().is_loopback();
}

}  // namespace uop
