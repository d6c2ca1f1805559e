#include "server/acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>

#include "core/support/log.h"

namespace uop {
namespace asio = boost::asio;

namespace {

/// Before the next try where no descriptor was to be had.
constexpr std::chrono::milliseconds kPause{100};

/// Bytes that a client does not acknowledge for this long end the connection, as gRPC's keepalive does for pings.
constexpr int kUserTimeoutMs = 40'000;

void tune(int fd) {  // no effect on a unix socket
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
}

}  // namespace

struct Acceptor::Impl {
  Impl(asio::io_context& io, ListeningSocket s) : socket(io, s.fd), pause(io), address(std::move(s.address)) {}

  void wait() {
    socket.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& stopped) {
      if (!stopped && !closed) accept_all();
    });
  }

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(socket.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        starved = false;
        tune(fd);
        on_connection(fd);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return wait();
      } else if (errno != ECONNABORTED && errno != EINTR) {  // those two: that connection is gone, the next may be fine
        return rest(errno);
      }
    }
  }

  void rest(int why) {
    if (!starved)
      log(LogLevel::kWarning, "no_connection_accepted",
          {{"address", address},
           {"why", std::strerror(why)},
           {"effect", "tries again soon; the limit of open files may be too low"}});
    starved = true;
    pause.expires_after(kPause);
    pause.async_wait([this](const boost::system::error_code& stopped) {
      if (!stopped && !closed) accept_all();
    });
  }

  asio::posix::stream_descriptor socket;
  asio::steady_timer pause;
  const std::string address;
  bool starved = false;
  bool closed = false;
  std::function<void(int)> on_connection;
};

Acceptor::Acceptor(Background& background, ListeningSocket socket)
    : background_(background),
      address_(socket.address),
      impl_(std::make_unique<Impl>(background.io(), std::move(socket))) {}

Acceptor::~Acceptor() {
  background_.run([this] {
    impl_->closed = true;
    impl_->socket.close();
    impl_->pause.cancel();
  });
  background_.run([] {});  // handlers that were due before have run
}

void Acceptor::start(std::function<void(int fd)> on_connection) {
  background_.run([&] {
    impl_->on_connection = std::move(on_connection);
    impl_->wait();
  });
}

}  // namespace uop
