#include "server/background.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <list>
#include <thread>

namespace uop {
namespace asio = boost::asio;

namespace {

struct Repeated {
  asio::steady_timer timer;
  std::chrono::milliseconds period;
  std::function<void()> task;

  void arm() {
    timer.expires_after(period);
    timer.async_wait([this](const boost::system::error_code& stopped) {
      if (stopped) return;
      task();
      arm();
    });
  }
};

}  // namespace

struct Background::Impl {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::list<Repeated> repeated;  // changed by the thread only
  std::jthread thread{[this] { io.run(); }};
};

Background::Background() : impl_(std::make_unique<Impl>()) {}

Background::~Background() {
  impl_->io.stop();
  impl_->thread.join();
}

void Background::every(std::chrono::milliseconds period, std::function<void()> task) {
  run([&] {
    impl_->repeated.push_back({asio::steady_timer(impl_->io), period, std::move(task)});
    impl_->repeated.back().arm();
  });
}

void Background::run(const std::function<void()>& task) {
  std::promise<void> done;
  asio::post(impl_->io, [&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

boost::asio::io_context& Background::io() {
  return impl_->io;
}

}  // namespace uop
