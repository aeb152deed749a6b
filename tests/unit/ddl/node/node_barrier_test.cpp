// SPDX-License-Identifier: MIT
// Ranks of a host that stay away, differ or die: reported by all others, by name and in time.
#include "ddl/core/call_record.hpp"
#include "tests/support/forked_node_comm.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ddl/node/node_ranks.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("ddl/node/node_barrier");

using ddl::DataType;
using ddl::NodeCollectives;
using ddl::NodeComm;
using ddl::Operation;
using ddl::Slice;
using ddl::tests::NodeBuffer;
using ddl::tests::on_threads;
using ddl::tests::thrown;

TEST_CASE("a rank that stays away is named by all others within the deadline") {
  std::vector<std::string> texts(4);
  const auto begin = std::chrono::steady_clock::now();
  on_threads(4, [&](NodeComm& group) {
    NodeCollectives stage(group, 0.4);
    const auto rank = static_cast<std::size_t>(group.local_rank());
    std::vector<float> data(4096);
    if (rank == 3) std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    const auto sum = [&] {
      stage.all_reduce(reinterpret_cast<std::byte*>(data.data()), data.size(), {}, {812, 0, {}, "conv1"});
    };
    texts[rank] = thrown(sum);
    if (thrown([&] { stage.barrier({813, 0}); }) != texts[rank]) texts[rank] += "; and then another error";
  });
  for (const std::string& text : texts) {
    CHECK(text ==
          "lost: rank 3 (h2) has not come to all_reduce #812 (sum) of 4096 float32 \"conv1\" within 0.4 s | "
          "rank 3 (h2)");
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("ranks that call different things are named by all") {
  struct Row {
    const char* name;
    std::function<void(NodeCollectives&, std::byte*, bool odd)> call;
    const char* expected;
  };
  const Row rows[] = {
      {"size",
       [](NodeCollectives& stage, std::byte* data, bool odd) {
         stage.all_reduce(data, odd ? 64 : 63, {}, {7, 0});
       },
       "mismatch: rank 2 (h2) calls all_reduce #7 (sum) of 64 float32, rank 0 (h2) calls all_reduce #7 (sum) "
       "of 63 "
       "float32 | "
       "rank 2 (h2), rank 0 (h2)"},
      {"type",
       [](NodeCollectives& stage, std::byte* data, bool odd) {
         stage.all_reduce(data, 64, {odd ? DataType::int32 : DataType::float32, Operation::sum, 1.0}, {7, 0});
       },
       "mismatch: rank 2 (h2) calls all_reduce #7 (sum) of 64 int32, rank 0 (h2) calls all_reduce #7 (sum) "
       "of 64 float32 "
       "| "
       "rank 2 (h2), rank 0 (h2)"},
      {"tensor",
       [](NodeCollectives& stage, std::byte* data, bool odd) {
         stage.all_reduce(data, 64, {}, {7, odd ? 1U : 2U, {}, odd ? "bias" : "weight"});
       },
       "mismatch: rank 2 (h2) calls all_reduce #7 (sum) of 64 float32 \"bias\", rank 0 (h2) calls all_reduce "
       "#7 (sum) of "
       "64 "
       "float32 \"weight\" | rank 2 (h2), rank 0 (h2)"},
      {"verb",
       [](NodeCollectives& stage, std::byte* data, bool odd) {
         odd ? stage.barrier({8, 0}) : stage.broadcast(data, 64, DataType::float32, 0, {8, 0});
       },
       "mismatch: rank 2 (h2) calls barrier #8, rank 0 (h2) calls broadcast #8 (root 0) of 64 float32 | rank "
       "2 (h2), "
       "rank 0 "
       "(h2)"},
      {"order",
       [](NodeCollectives& stage, std::byte*, bool odd) {
         stage.barrier({odd ? 9U : 8U, 0});
       },
       "mismatch: rank 2 (h2) calls barrier #9, rank 0 (h2) calls barrier #8 | rank 2 (h2), rank 0 (h2)"},
      {"signature",
       [](NodeCollectives& stage, std::byte* data, bool odd) {
         stage.all_reduce(data, 64, {}, {7, odd ? 1U : 2U});
       },
       "mismatch: rank 2 (h2) and rank 0 (h2) both call all_reduce #7 (sum) of 64 float32, but with other "
       "tensors "
       "or other memory | rank 2 (h2), rank 0 (h2)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    std::vector<std::string> texts(4);
    on_threads(4, [&](NodeComm& group) {
      NodeCollectives stage(group, 30.0);
      std::vector<std::byte> data(1000);
      const auto rank = static_cast<std::size_t>(group.local_rank());
      texts[rank] = thrown([&] { row.call(stage, data.data(), rank == 2); });
    });
    for (const std::string& text : texts) CHECK(text == row.expected);
  }
}

TEST_CASE("of calls that differ the one that fewer ranks make is odd") {
  const auto odd_of = [](std::initializer_list<std::uint64_t> signatures) {
    std::vector<ddl::CallRecord> calls;
    for (const std::uint64_t signature : signatures) calls.push_back({7, signature, 0});
    const ddl::OddCall found = ddl::find_odd_call(calls);
    return std::pair(found.odd, found.usual);
  };
  CHECK(odd_of({1, 2, 2}) == std::pair<std::size_t, std::size_t>(0, 1));
  CHECK(odd_of({2, 2, 1, 2}) == std::pair<std::size_t, std::size_t>(2, 0));
  CHECK(odd_of({1, 2}) == std::pair<std::size_t, std::size_t>(1, 0));
  CHECK(odd_of({1, 2, 3, 3}) == std::pair<std::size_t, std::size_t>(0, 2));
}

TEST_CASE("an error that one rank met elsewhere reaches those who wait for it at once") {
  std::vector<std::string> texts(3);
  const auto begin = std::chrono::steady_clock::now();
  on_threads(3, [&](NodeComm& group) {
    NodeCollectives stage(group, 30.0);
    const auto rank = static_cast<std::size_t>(group.local_rank());
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stage.report_failure(ddl::Error(ddl::Fault::lost, "rank 9 (h7) is gone", "rank 9 (h7)", "look there"));
    }
    texts[rank] = thrown([&] { stage.barrier({1, 0}); });
  });
  for (const std::string& text : texts) CHECK(text == "lost: rank 9 (h7) is gone | rank 9 (h7)");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("an update that throws ends the call on all ranks") {
  std::vector<std::string> texts(3);
  on_threads(3, [&](NodeComm& group) {
    NodeCollectives stage(group, 30.0);
    const NodeBuffer ground(group, 4096);
    const auto rank = static_cast<std::size_t>(group.local_rank());
    try {
      texts[rank] = thrown([&] {
        stage.reduce_update(ground.range(1024, DataType::float32), {}, {3, 0},
                            [&](const Slice&, const std::byte*) {
                              if (rank == 1) throw std::runtime_error("no such weight");
                            });
      });
    } catch (const std::runtime_error& error) {
      texts[rank] = error.what();
    }
  });
  CHECK(texts[0] == "lost: rank 1 (h2) failed in its update: no such weight | rank 1 (h2)");
  CHECK(texts[1] == "no such weight");
  CHECK(texts[2] == texts[0]);
}

TEST_CASE("processes: sums, and one that is killed is named at once" *
          doctest::skip(ddlrun::testing::with_tsan)) {
  const ddl::tests::ForkedNode host(4, 4 << 20);
  const auto begin = std::chrono::steady_clock::now();
  const auto statuses = ddl::tests::run_forked(host, [](NodeComm& group) {
    NodeCollectives stage(group, 60.0);
    for (const std::size_t count : {1, 1000, 100000}) {
      std::vector<float> data(count, static_cast<float>(group.local_rank() + 1));
      stage.all_reduce(reinterpret_cast<std::byte*>(data.data()), count, {}, {count, 0});
      if (data != std::vector<float>(count, 10.0F)) return 1;
    }
    if (group.local_rank() == 2) raise(SIGKILL);
    const std::string text = thrown([&] { stage.barrier({99, 0}); });
    return text == "lost: rank 2 (h1) ended before it came to barrier #99 | rank 2 (h1)" ? 0 : 2;
  });
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    CAPTURE(rank);
    if (rank == 2) {
      CHECK(WIFSIGNALED(statuses[rank]));
    } else {
      CHECK(WIFEXITED(statuses[rank]));
      CHECK(WEXITSTATUS(statuses[rank]) == 0);
    }
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("processes: the words for the end of a rank are those of its own report, while it lives and after" *
          doctest::skip(ddlrun::testing::with_tsan)) {
  struct Row {
    ddl::ContextEnd how;
    std::string says;
  };
  const Row rows[] = {
      {ddl::ContextEnd::by_exit,
       "lost: rank 2 (h1) ended by exit() with its Context alive, before it came to barrier #99 | rank 2 "
       "(h1)"},
      {ddl::ContextEnd::in_order,
       "lost: rank 2 (h1) makes no more calls, and this is barrier #99 | rank 2 (h1)"},
  };
  for (const Row& row : rows) {
    for (const int stays_ms : {0, 1000}) {
      CAPTURE(row.says);
      CAPTURE(stays_ms);
      const ddl::tests::ForkedNode host(3, 4 << 20);
      const auto statuses = ddl::tests::run_forked(host, [&](NodeComm& group) {
        NodeCollectives stage(group, 60.0);
        if (group.local_rank() == 2) {
          stage.end(row.how);
          std::this_thread::sleep_for(std::chrono::milliseconds(stays_ms));
          _exit(3);
        }
        return thrown([&] { stage.barrier({99, 0}); }) == row.says ? 0 : 2;
      });
      CHECK(WEXITSTATUS(statuses[0]) == 0);
      CHECK(WEXITSTATUS(statuses[1]) == 0);
    }
  }
}

TEST_SUITE_END();
