// SPDX-License-Identifier: MIT
// What ranks agree on, with threads as ranks.
#include "runtime/comm/thread_communicator.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/comm/communicator");

TEST_CASE("ranks: sums, broadcasts and gathers have their closed forms") {
  for (const int size : {1, 2, 3, 5}) {
    std::atomic<int> good = 0;
    run_ranks_as_threads(size, [&](Communicator& ranks) {
      const std::vector<float> mine(10, static_cast<float>(ranks.rank()));
      std::vector<float> sum(10);
      ranks.all_reduce_sum(mine, sum);
      std::vector<float> data(3, static_cast<float>(ranks.rank() + 7));
      ranks.broadcast(data);
      const auto names = ranks.gather_all(std::to_string(ranks.rank()));
      const bool ok = sum == std::vector<float>(10, static_cast<float>(size * (size - 1)) / 2.0F) &&
                      data == std::vector<float>(3, 7.0F) && names.size() == static_cast<std::size_t>(size) &&
                      names.back() == std::to_string(size - 1);
      good += ok ? 1 : 0;
    });
    CHECK(good == size);
  }
}

TEST_CASE("ranks: sums for the host give each share to one rank, and all have one memory") {
  for (const int size : {1, 2, 3, 5}) {
    std::atomic<int> good = 0;
    run_ranks_as_threads(size, [&](Communicator& ranks) {
      const std::span<float> common = ranks.allocate_host_shared(11);
      const std::span<float> other = ranks.allocate_host_shared(2);
      std::vector<float> mine(11);
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = static_cast<float>(i) + static_cast<float>(ranks.rank());
      ranks.all_reduce_update(mine, "mine", [&](std::size_t first, std::span<const float> sums) {
        for (std::size_t i = 0; i < sums.size(); ++i) common[first + i] += sums[i];  // twice would show
      });
      bool ok =
          other.data() != common.data() && ranks.local_size() == size && ranks.local_rank() == ranks.rank();
      for (std::size_t i = 0; i < common.size(); ++i) {
        const float all =
            static_cast<float>(size) * static_cast<float>(i) + static_cast<float>(size * (size - 1)) / 2.0F;
        ok = ok && common[i] == all;
      }
      good += ok ? 1 : 0;
    });
    CHECK(good == size);
  }
}

TEST_CASE("ranks: an exception on one wakes the others") {
  CHECK_THROWS_AS(run_ranks_as_threads(4,
                                       [](Communicator& ranks) {
                                         if (ranks.rank() == 2) throw std::runtime_error("rank 2");
                                         ranks.gather_all("");
                                       }),
                  std::runtime_error);
}

TEST_CASE("ranks: an error on one rank is known to all and names it") {
  std::atomic<int> thrown = 0;
  const Message message = expect_error(ErrorKind::request, "[rank 1 ", [&] {
    run_ranks_as_threads(3, [&](Communicator& ranks) {
      try {
        run_collectively(ranks, [&] {
          if (ranks.rank() == 1) throw Error(ErrorKind::request, {"a\xff b", "c", "d"});
        });
      } catch (const CollectiveError&) {
        ++thrown;
        throw;
      }
    });
  });
  CHECK(thrown == 3);
  CHECK(message.hint == "d");
}

TEST_CASE("ranks: an error on all ranks is one plain error") {
  const Message message = expect_error(ErrorKind::usage, "same", [] {
    run_ranks_as_threads(3, [](Communicator& ranks) {
      run_collectively(ranks, [] { throw Error(ErrorKind::usage, {"same", "w", "h"}); });
    });
  });
  CHECK(message.what == "same");
}

TEST_CASE("ranks: values that differ name their ranks") {
  const Message message = expect_error(ErrorKind::internal, "differ", [] {
    run_ranks_as_threads(3, [](Communicator& ranks) {
      require_equal(ranks, ranks.rank() == 2 ? "b" : "a", ErrorKind::internal, "they differ", "look");
    });
  });
  CHECK(message.where.find("rank 2") != std::string::npos);
  CHECK(message.where.find("rank 1") == std::string::npos);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
