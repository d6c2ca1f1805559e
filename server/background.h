// One thread for what waits: timers and the listening sockets. Nothing here may take long.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace uop {

class Background {
 public:
  Background();
  /// Stops; what runs at that time finishes.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Calls `task` each `period` until the end. It must not throw.
  void every(std::chrono::milliseconds period, std::function<void()> task);

  /// Runs `task` in the thread and waits for it; what is owned by the thread is changed this way.
  void run(const std::function<void()>& task);

  boost::asio::io_context& io();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace uop
