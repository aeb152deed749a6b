// SPDX-License-Identifier: MIT
// Sums over wires when something is wrong: silent ranks, lost and late messages, calls that differ.
#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/thread/thread_peer_comm.hpp"
#include "tests/unit/ddl/collectives/peer_ranks.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("ddl/collectives/inter_node_faults");

using ddl::DataType;
using ddl::InterNodeAlgorithm;
using ddl::Operation;
using ddl::testing::Grid3;
using ddl::testing::inter_node_options;
using ddl::testing::RankOnPeers;
using ddl::testing::run_on_peers;
using ddl::testing::TypedVector;

TEST_CASE("a rank that stays away is named by the others, by the deadline") {
  const Grid3 grid{4};
  for (const InterNodeAlgorithm algorithm : {InterNodeAlgorithm::direct, InterNodeAlgorithm::gathered}) {
    std::vector<std::string> said(4);
    ddl::ThreadPeerCommOptions comm;
    comm.deadline = std::chrono::milliseconds(200);
    std::atomic<int> done = 0;
    run_on_peers(
        grid,
        [&](RankOnPeers& me) -> std::string {
          TypedVector data(DataType::float32, 3000);
          ddl::Scratch scratch;
          try {
            if (me.rank != 2) {
              ddl::all_reduce(me.comms(), {}, data.bytes(), 3000, inter_node_options(algorithm, 512),
                              scratch);
            }
          } catch (const ddl::Error& error) {
            CHECK(error.fault() == ddl::Fault::lost);
            said[static_cast<std::size_t>(me.rank)] = error.where();
          }
          ++done;
          while (done < 4) std::this_thread::yield();  // alive, but silent
          return "";
        },
        comm);
    CHECK(said == std::vector<std::string>{"rank 2", "rank 2", "", "rank 2"});
  }
}

TEST_CASE("lost, late and odd messages") {
  struct Row {
    const char* name;
    std::chrono::microseconds delay;  // of every third message
    std::size_t count_of_rank_1;
    std::uint32_t signature_of_rank_1;
    std::optional<ddl::Fault> fault;
  };
  const Row rows[] = {
      {"nothing wrong", std::chrono::microseconds(0), 3000, 7, {}},
      {"late, within the deadline", std::chrono::milliseconds(5), 3000, 7, {}},
      {"later than the deadline", std::chrono::seconds(5), 3000, 7, ddl::Fault::lost},
      {"never", std::chrono::microseconds(-1), 3000, 7, ddl::Fault::lost},
      {"another count", std::chrono::microseconds(0), 3100, 7, ddl::Fault::mismatch},
      {"another call of the same size", std::chrono::microseconds(0), 3000, 8, ddl::Fault::mismatch},
  };
  for (const Row& row : rows) {
    for (const InterNodeAlgorithm algorithm : {InterNodeAlgorithm::direct, InterNodeAlgorithm::ring,
                                               InterNodeAlgorithm::halving, InterNodeAlgorithm::gathered}) {
      CAPTURE(row.name);
      CAPTURE(static_cast<int>(algorithm));
      ddl::ThreadPeerCommOptions comm;
      comm.deadline = std::chrono::milliseconds(300);
      comm.delay = [&](int, int, std::uint64_t number) {
        return number % 3 == (algorithm == InterNodeAlgorithm::gathered ? 0 : 2)
                   ? row.delay
                   : std::chrono::microseconds(0);
      };
      std::atomic<int> faults = 0;
      const std::string problem = run_on_peers(
          {3},
          [&](RankOnPeers& me) -> std::string {
            const std::size_t count = me.rank == 1 ? row.count_of_rank_1 : 3000;
            TypedVector data(DataType::float32, count);
            ddl::InterNodeOptions options = inter_node_options(algorithm, 512);
            options.signature = me.rank == 1 ? row.signature_of_rank_1 : 7;
            ddl::Scratch scratch;
            try {
              ddl::all_reduce(me.comms(), {}, data.bytes(), count, options, scratch);
            } catch (const ddl::Error& error) {
              if (error.fault() == row.fault) ++faults;
              return row.fault ? "" : error.what();
            }
            return row.fault ? "no error on rank " + std::to_string(me.rank) : "";
          },
          comm);
      CHECK(problem == "");
      CHECK((faults > 0) == row.fault.has_value());  // others may see that rank leave before they see why
    }
  }
}

namespace {

class CrowdedWire : public ddl::PeerComm {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1025; }
  Ticket send(int, std::span<const std::byte>) override { return 0; }
  Ticket receive(int, std::span<std::byte>) override { return 0; }
  void wait(Ticket) override {}
  std::string name_of(int) const override { return ""; }
};

}  // namespace

TEST_CASE("calls that cannot be right are refused") {
  CrowdedWire crowded;
  ddl::PeerComm* comm = &crowded;
  ddl::Scratch scratch;
  float number = 1;
  auto* const data = reinterpret_cast<std::byte*>(&number);
  CHECK_THROWS_AS(ddl::all_reduce({&comm, 1}, {}, data, 1, {}, scratch), ddl::Error);
  ddl::InterNodeOptions options;
  options.wire_dtype = DataType::float64;
  CHECK_THROWS_AS(ddl::all_reduce({}, {}, data, 1, options, scratch), ddl::Error);
  CHECK_THROWS_AS(ddl::broadcast({}, std::vector<int>{0}, {data, 4}, {}), ddl::Error);
  ddl::all_reduce({}, {DataType::float32, Operation::average, 0.5}, data, 1, {}, scratch);
  CHECK(number == 0.5f);
}

TEST_SUITE_END();
