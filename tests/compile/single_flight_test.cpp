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

/// Starts `waiters` callers behind one builder that returns `first`; the others' own builds return 7.
struct Outcome {
  std::vector<StatusOr<int>> waiters;
  int builds = 0;
};

Outcome waiters_behind(const StatusOr<int>& first, std::size_t waiters) {
  SingleFlight<int> flights;
  std::atomic<bool> started = false, finish = false;
  std::atomic<std::size_t> arrived = 0;
  std::atomic<int> builds = 0;
  Outcome outcome{std::vector<StatusOr<int>>(waiters, 0)};
  {
    std::jthread builder([&] {
      bool joined = false;
      const auto value = flights.run(kKey, {}, joined, [&]() -> StatusOr<int> {
        ++builds;
        started = true;
        while (!finish) std::this_thread::yield();
        return first;
      });
      EXPECT_EQ(value.status(), first.status());
      EXPECT_FALSE(joined);
    });
    while (!started) std::this_thread::yield();
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < waiters; ++t)
      threads.emplace_back([&, t] {
        bool joined = false;
        ++arrived;
        outcome.waiters[t] = flights.run(kKey, {}, joined, [&]() -> StatusOr<int> {
          ++builds;
          return 7;
        });
      });
    while (arrived < waiters) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // most of them wait by now; one that is late builds
    finish = true;
  }
  outcome.builds = builds;
  return outcome;
}

TEST(SingleFlightTest, ARefusalIsSharedByAllWhoWait) {
  for (const StatusCode code : {StatusCode::kInternal, StatusCode::kInvalidArgument, StatusCode::kResourceExhausted}) {
    const Status refusal = error(code, "no");
    const Outcome outcome = waiters_behind(refusal, 8);
    for (const StatusOr<int>& value : outcome.waiters) EXPECT_TRUE(value.status() == refusal || *value == 7);
    EXPECT_LT(outcome.builds, 9);
  }
}

TEST(SingleFlightTest, WhatBefellTheBuilderAloneIsNotShared) {
  for (const StatusCode code : {StatusCode::kCancelled, StatusCode::kDeadlineExceeded}) {
    const Outcome outcome = waiters_behind(error(code, "only me"), 8);
    for (const StatusOr<int>& value : outcome.waiters) {
      ASSERT_TRUE(value.ok()) << value.status();
      EXPECT_EQ(*value, 7);
    }
  }
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
