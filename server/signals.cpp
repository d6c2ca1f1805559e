#include "server/signals.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/support/log.h"

namespace uop {
namespace asio = boost::asio;

struct Signals::Impl {
  // Handlers rather than SIG_IGN: a compiler that is started gets the defaults back.
  asio::io_context io{1};
  asio::signal_set stop{io, SIGTERM, SIGINT};
  asio::signal_set ignored{io, SIGHUP, SIGUSR1, SIGUSR2};
  std::jthread drainer;

  void ignore_next() {
    ignored.async_wait([this](const boost::system::error_code& stopped, int signal) {
      if (stopped) return;
      log(LogLevel::kInfo, "signal_ignored", {{"signal", signal}});
      ignore_next();
    });
  }

  void wait_for_first(Server& server) {
    stop.async_wait([this, &server](const boost::system::error_code&, int) {
      wait_for_second();
      drainer = std::jthread([this, &server] {
        server.drain();
        io.stop();
      });
    });
  }

  void wait_for_second() {
    stop.async_wait([](const boost::system::error_code& stopped, int) {
      if (stopped) return;
      log(LogLevel::kWarning, "second_signal", {{"effect", "ends at once"}});
      std::_Exit(EXIT_FAILURE);
    });
  }
};

Signals::Signals() : impl_(std::make_unique<Impl>()) {
  std::signal(SIGPIPE, SIG_IGN);
  impl_->ignore_next();
}

Signals::~Signals() = default;

void Signals::drain_on_signal(Server& server) {
  impl_->wait_for_first(server);
  impl_->io.run();
}

}  // namespace uop
