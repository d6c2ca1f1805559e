// Single flight in the process: one build for many callers, and no caller that depends on another's luck.
#include "core/compile/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace uop {
namespace {

const Digest kKey = sha256("key");

TEST(SingleFlightTest, EveryCallerOfOneKeyGetsAValue) {
  SingleFlight<int> flights;
  std::atomic<int> running = 0, builds = 0, joins = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          bool joined = false;
          const auto value = flights.run(kKey, {}, joined, [&]() -> StatusOr<int> {
            EXPECT_EQ(++running, 1);
            std::this_thread::yield();
            --running;
            return ++builds;
          });
          EXPECT_TRUE(value.ok());
          if (joined) ++joins;
        }
      });
  }
  EXPECT_EQ(builds + joins, 8 * 200);
}

TEST(SingleFlightTest, AfterAFailureEachWaiterTriesItself) {
  SingleFlight<int> flights;
  std::atomic<int> builds = 0, failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        bool joined = false;
        const auto value = flights.run(kKey, {}, joined, [&]() -> StatusOr<int> {
          ++builds;
          return error(StatusCode::kInternal, "no");
        });
        if (!value.ok() && !joined) ++failures;
      });
  }
  EXPECT_EQ(builds, 8);
  EXPECT_EQ(failures, 8);
}

TEST(SingleFlightTest, ABuildThatThrowsBlocksNobody) {
  SingleFlight<int> flights;
  bool joined = false;
  EXPECT_THROW((void)flights.run(kKey, {}, joined, []() -> StatusOr<int> { throw std::runtime_error("broken"); }),
               std::runtime_error);
  EXPECT_EQ(*flights.run(kKey, {}, joined, []() -> StatusOr<int> { return 5; }), 5);
}

TEST(SingleFlightTest, AWaiterLeavesWhenItIsCancelled) {
  SingleFlight<int> flights;
  std::atomic<bool> started = false, finish = false;
  std::jthread builder([&] {
    bool joined = false;
    (void)flights.run(kKey, {}, joined, [&]() -> StatusOr<int> {
      started = true;
      while (!finish) std::this_thread::yield();
      return 1;
    });
  });
  while (!started) std::this_thread::yield();
  std::stop_source source;
  std::jthread waiter([&] {
    bool joined = false;
    const auto value = flights.run(kKey, {source.get_token(), {}}, joined, [] { return StatusOr<int>(2); });
    EXPECT_EQ(value.status().code(), StatusCode::kCancelled);
  });
  source.request_stop();
  waiter.join();
  finish = true;
}

}  // namespace
}  // namespace uop
