// SPDX-License-Identifier: MIT
// What libddl decides about GPUs before it meets one.
#include "ddl/gpu/gpu_comms.hpp"

#include "ddl/gpu/gpu_info.hpp"
#include "ddl/node/heartbeat.hpp"
#include "ddl/transport/thread/thread_transport.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("ddl/gpu/gpu_comms");

namespace {

using Transport = std::vector<int>;

struct Row {
  std::string dims;
  std::vector<std::string> hosts;  // by rank
  int rank;
  bool levels;
  std::vector<Transport> groups;
};

// DDL order: rank = x*(Y*Z) + y*Z + z.
const Row rows[] = {
    {"", {"a"}, 0, true, {{0}}},
    {"", {"a", "a", "b", "b"}, 3, false, {{0, 1, 2, 3}}},
    {"", {"a", "a", "b", "b"}, 3, true, {{0, 1, 2, 3}, {2, 3}, {1, 3}}},
    {"2x2", {"a", "b", "a", "b"}, 2, true, {{0, 1, 2, 3}, {0, 2}, {2, 3}}},
    {"2x2x2",
     {"a", "b", "c", "d", "a", "b", "c", "d"},
     5,
     true,
     {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 5}, {5, 7}, {4, 5}}},
    {"", {"a", "a", "a"}, 1, true, {{0, 1, 2}}},
    {"", {"a", "b", "c"}, 1, true, {{0, 1, 2}, {1}, {0, 1, 2}}},
};

}  // namespace

TEST_CASE("which ranks are in a communicator with one") {
  for (const Row& row : rows) {
    CAPTURE(row.dims);
    CAPTURE(row.hosts.size());
    const auto plan = ddl::plan_gpu_comms(ddl::plan_grid(row.dims, row.hosts), row.rank, row.levels);
    REQUIRE(plan.size() == row.groups.size());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      CAPTURE(i);
      CHECK(plan[i].ranks == row.groups[i]);
      CHECK(plan[i].ranks[static_cast<std::size_t>(plan[i].me)] == row.rank);
    }
  }
}

TEST_CASE("what a rank reports of its GPU comes back from its text") {
  const ddl::GpuInfo reported{"", "", "", "00ff", "NVIDIA H200", "a", {"0a0b", "-"}};
  const ddl::GpuInfo same = ddl::parse_gpu_info(ddl::render_gpu_info(reported));
  CHECK(same.uuid == "00ff");
  CHECK(same.name == "NVIDIA H200");
  CHECK(same.nccl_host == "a");
  CHECK(same.ids == reported.ids);
  const ddl::GpuInfo cannot =
      ddl::parse_gpu_info(ddl::render_gpu_info({"two\nlines", "here", "this", "", "", "", {}}));
  CHECK(cannot.obstacle == "two lines");
  CHECK(cannot.where == "here");
  CHECK(cannot.hint == "this");
  CHECK(cannot.ids.empty());
}

TEST_CASE("the first rank that keeps all from connecting is named") {
  const ddl::Grid grid = ddl::plan_grid("", std::vector<std::string>{"a", "a", "b", "b"});
  const auto gpu = [](const std::string& uuid, const std::string& nccl_host = "") {
    return ddl::GpuInfo{"", "", "", uuid, "H200", nccl_host, {"-"}};
  };
  CHECK_FALSE(ddl::find_gpu_obstacle({gpu("0"), gpu("1"), gpu("0"), gpu("1")}, grid));
  CHECK_FALSE(ddl::find_gpu_obstacle({gpu("0"), gpu("1"), gpu("1", "x"), gpu("1", "y")}, grid));
  const auto shared = ddl::find_gpu_obstacle({gpu("0"), gpu("1"), gpu("1"), gpu("1")}, grid);
  REQUIRE(shared);
  CHECK(std::string(shared->what()) ==
        "rank 2 (b) and rank 3 (b) use the same GPU (H200), and NCCL needs one for each rank");
  const auto none = ddl::find_gpu_obstacle(
      {gpu("0"), {"no NCCL", "libnccl.so.2", "install it", "", "", "", {}}, gpu("0"), gpu("0")}, grid);
  REQUIRE(none);
  CHECK(std::string(none->what()) == "rank 1 (a): no NCCL");
  CHECK(none->where() == "libnccl.so.2");
  CHECK(none->fault() == ddl::Fault::unsupported);
}

TEST_CASE("of ranks that wait for NCCL, who has fallen silent is known after a second") {
  const std::vector<std::string> hosts(3, "a");
  auto ranks = ddl::make_thread_transports(hosts);
  const ddl::Grid grid = ddl::plan_grid("", hosts);
  std::vector<std::unique_ptr<ddl::NodeComm>> groups(3);
  std::vector<std::unique_ptr<ddl::Heartbeat>> pulses(3);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      groups[r] = ranks[r]->make_node_comm(grid);
      pulses[r] = std::make_unique<ddl::Heartbeat>(*groups[r]);
    });
  }
  for (std::thread& each : threads) each.join();
  for (const auto& each : pulses) each->begin(7);
  pulses[0]->ready();
  CHECK(pulses[0]->find_unresponsive().empty());
  const auto late = pulses[0]->find_unready();
  REQUIRE(late.size() == 2);
  CHECK(late[0].name == "rank 1 (a)");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  pulses[2]->beat();
  const auto silent = pulses[0]->find_unresponsive();
  REQUIRE(silent.size() == 1);
  CHECK(silent[0].name == "rank 1 (a)");
  CHECK(silent[0].state == "does not answer");
  pulses[1]->end();  // who is done may be silent
  CHECK(pulses[0]->find_unresponsive().empty());
}

TEST_SUITE_END();
