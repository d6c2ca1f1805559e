// The parts of the server that need no socket: queue, gate, sessions, kernel table, statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "server/admission_gate.h"
#include "server/grpc_status.h"
#include "server/kernel_table.h"
#include "server/random_id.h"
#include "server/session_table.h"
#include "server/work_queue.h"

namespace uop {
namespace {

/// A thread that is busy until told otherwise.
struct Plug {
  std::promise<void> begun, end;
  WorkQueue::Work work() {
    return [this](const Status&, WorkQueue::Waited) {
      begun.set_value();
      end.get_future().wait();
    };
  }
};

TEST(WorkQueue, RunsInOrderAndMeasuresTheWait) {
  std::vector<int> order;
  WorkQueue::Waited waited{};
  {
    WorkQueue queue("run", 1, 10);
    Plug plug;
    ASSERT_TRUE(queue.submit({}, plug.work()).ok());
    plug.begun.get_future().wait();
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(queue
                      .submit({},
                              [&, i](const Status& s, WorkQueue::Waited w) {
                                EXPECT_TRUE(s.ok());
                                order.push_back(i);
                                waited = w;
                              })
                      .ok());
    EXPECT_EQ(queue.waiting(), 3u);
    plug.end.set_value();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_GT(waited.count(), 0);
}

TEST(WorkQueue, RefusesWhenFullAndSaysWhatToDo) {
  Plug plug;
  WorkQueue queue("run", 1, 2);
  ASSERT_TRUE(queue.submit({}, plug.work()).ok());
  plug.begun.get_future().wait();
  const auto nothing = [](const Status&, WorkQueue::Waited) {};
  ASSERT_TRUE(queue.submit({}, nothing).ok());
  ASSERT_TRUE(queue.submit({}, nothing).ok());
  const Status refused = queue.submit({}, [](const Status&, WorkQueue::Waited) { ADD_FAILURE() << "was refused"; });
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(refused), testing::HasSubstr("retry"));
  plug.end.set_value();
}

TEST(WorkQueue, CancelledWorkLeavesItsPlaceAtOnce) {
  Plug plug;
  WorkQueue queue("run", 1, 1);
  ASSERT_TRUE(queue.submit({}, plug.work()).ok());
  plug.begun.get_future().wait();
  std::stop_source stop;
  std::atomic<int> calls = 0;
  StatusCode code = StatusCode::kOk;
  ASSERT_TRUE(queue
                  .submit({stop.get_token(), std::nullopt},
                          [&](const Status& s, WorkQueue::Waited) {
                            ++calls;
                            code = s.code();
                          })
                  .ok());
  stop.request_stop();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(code, StatusCode::kCancelled);
  EXPECT_EQ(queue.waiting(), 0u);
  std::promise<void> ran;
  EXPECT_TRUE(queue.submit({}, [&](const Status&, WorkQueue::Waited) { ran.set_value(); }).ok());
  plug.end.set_value();
  ran.get_future().wait();
  EXPECT_EQ(calls, 1);
}

TEST(WorkQueue, CancelledWorkLeavesNothingBehind) {
  Plug plug;
  WorkQueue queue("run", 1, 2);
  ASSERT_TRUE(queue.submit({}, plug.work()).ok());
  plug.begun.get_future().wait();
  int calls = 0;
  const auto submit_and_cancel = [&] {
    std::stop_source stop;
    ASSERT_TRUE(queue.submit({stop.get_token(), {}}, [&](const Status&, WorkQueue::Waited) { ++calls; }).ok());
    stop.request_stop();
  };
  submit_and_cancel();
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 100'000; ++i) submit_and_cancel();
  EXPECT_LT(mallinfo2().uordblks, before + (std::size_t{1} << 20)) << "bytes, for 100,000 that have gone";
  EXPECT_EQ(calls, 100'001);
  plug.end.set_value();
}

TEST(WorkQueue, WhatWasCancelledBeforeTakesNoPlace) {
  Plug plug;
  WorkQueue queue("run", 1, 1);
  ASSERT_TRUE(queue.submit({}, plug.work()).ok());
  plug.begun.get_future().wait();
  std::stop_source stop;
  stop.request_stop();
  StatusCode code = StatusCode::kOk;
  ASSERT_TRUE(queue.submit({stop.get_token(), {}}, [&](const Status& s, WorkQueue::Waited) { code = s.code(); }).ok());
  EXPECT_EQ(code, StatusCode::kCancelled);
  EXPECT_EQ(queue.waiting(), 0u);
  plug.end.set_value();
}

TEST(WorkQueue, ManyThreadsSubmitAndCancel) {
  std::atomic<int> submitted = 0;
  std::atomic<int> called = 0;
  {
    WorkQueue queue("run", 2, 8);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          std::stop_source stop;
          submitted += queue.submit({stop.get_token(), {}}, [&](const Status&, WorkQueue::Waited) { ++called; }).ok();
          if (i % 2 == 0) stop.request_stop();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(called, submitted) << "each once";
  EXPECT_GT(submitted, 0);
}

TEST(WorkQueue, PassedDeadlineIsSaid) {
  WorkQueue queue("run", 1, 1);
  std::promise<StatusCode> code;
  ASSERT_TRUE(
      queue.submit({{}, Clock::now()}, [&](const Status& s, WorkQueue::Waited) { code.set_value(s.code()); }).ok());
  EXPECT_EQ(code.get_future().get(), StatusCode::kDeadlineExceeded);
}

TEST(AdmissionGate, ClosedAdmitsNobodyAndWaitsForThoseInside) {
  AdmissionGate gate;
  StatusOr<AdmissionGate::Pass> pass = gate.enter();
  ASSERT_TRUE(pass.ok());
  gate.close();
  EXPECT_EQ(gate.enter().status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(gate.enter(/*even_closed=*/true).ok());
  EXPECT_FALSE(gate.wait_until_empty(std::chrono::milliseconds(1)));
  { const AdmissionGate::Pass gone = *std::move(pass); }
  EXPECT_TRUE(gate.wait_until_empty(std::chrono::seconds(60)));
  EXPECT_EQ(gate.inside(), 0u);
}

TEST(SessionTable, EndsIdleSessionsOnly) {
  SessionTable table;
  const std::string idle = *table.open();
  const std::string used = *table.open();
  const std::string busy = *table.open();
  const std::optional<SessionPin> call = table.pin(busy);
  std::size_t ended = 0;
  for (int i = 0; i <= kSweepsOfLease; ++i) {
    EXPECT_EQ(ended, 0u) << "no sooner than a lease";
    EXPECT_TRUE(table.pin(used));
    ended += table.sweep();
  }
  EXPECT_EQ(ended, 1u);
  EXPECT_FALSE(table.pin(idle));
  EXPECT_TRUE(table.pin(used));
  EXPECT_EQ(table.sessions(), 2u);
}

TEST(SessionTable, BuffersBelongToOneSession) {
  SessionTable table;
  const SessionPin a = *table.pin(*table.open());
  const SessionPin b = *table.pin(*table.open());
  const std::string id = *a->add({nullptr, {DType::kF32, 3}});
  EXPECT_EQ(a->find(id)->tensor.elements, 3);
  EXPECT_EQ(b->find(id).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(b->free(id));
  EXPECT_EQ(table.buffers(), 1u);
  EXPECT_TRUE(a->free(id));
  EXPECT_FALSE(a->free(id)) << "freed twice";
  EXPECT_EQ(table.buffers(), 0u);
}

TEST(RandomId, IsHexadecimalAndNew) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(*random_id());
  EXPECT_EQ(ids.size(), 1000u);
  EXPECT_THAT(*ids.begin(), testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(ids.begin()->size(), 32u);
}

std::map<std::string, KernelTotals> as_map(const KernelTable& table) {
  const auto rows = table.rows();
  return {rows.begin(), rows.end()};
}

TEST(KernelTable, IsBoundedAndItsSumIsWhatWasRun) {
  KernelTable table;
  std::map<std::string, KernelTotals> before;
  std::uint64_t runs = 0;
  for (int round = 0; round < 40; ++round) {
    for (int k = 0; k < 300; ++k) {
      // The dear ones change from round to round.
      const double seconds = (k + round * 37) % 300;
      table.record("k" + std::to_string(k + (round / 10) * 1000), {1, seconds, 2, 3});
      ++runs;
    }
    const auto now = as_map(table);
    EXPECT_LE(now.size(), KernelTable::kNamed + 1);
    std::uint64_t sum = 0;
    for (const auto& [name, totals] : now) {
      sum += totals.runs;
      if (before.contains(name) && name == "other") {
        EXPECT_GE(totals.runs, before[name].runs) << name;
      }
    }
    EXPECT_EQ(sum, runs);
    before = now;
  }
}

TEST(KernelTable, TheDearestAreNamed) {
  KernelTable table;
  for (int k = 0; k < 200; ++k) table.record("cheap" + std::to_string(k), {1, 0.001, 0, 0});
  for (int i = 0; i < 3; ++i) table.record("dear", {1, 1.0, 10, 20});
  const auto rows = as_map(table);
  ASSERT_TRUE(rows.contains("dear"));
  EXPECT_EQ(rows.at("dear").runs, 3u);
  EXPECT_EQ(rows.at("dear").flops, 30u);
  EXPECT_EQ(rows.at("other").runs, 151u) << "150 that never had a name and the one that lost its";
}

TEST(GrpcStatus, CodesAreTheSameAndMessagesFit) {
  for (int code = 1; code <= 16; ++code)
    EXPECT_EQ(to_grpc(Status(static_cast<StatusCode>(code), "x")).error_code(), static_cast<grpc::StatusCode>(code));
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "%ä";
  const std::string cut = to_grpc(invalid_argument("{}", text)).error_message();
  EXPECT_LT(cut.size() * 3, 8192u);
  EXPECT_THAT(cut, testing::EndsWith("(cut)"));
  EXPECT_EQ(to_grpc(invalid_argument("short %")).error_message(), "short %");
}

}  // namespace
}  // namespace uop
