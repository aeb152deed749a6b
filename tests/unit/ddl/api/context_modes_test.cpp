// SPDX-License-Identifier: MIT
// What a mode means for each kind of sum, and that ranks of unlike options are reported so.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "tests/support/thread_contexts.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

TEST_SUITE_BEGIN("ddl/api/context_modes");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::Options;
using ddl::tests::packed_hosts;
using ddl::tests::run_contexts;

// What each of three ranks on two hosts is reported when its options are changed.
std::multiset<std::string> start_with(const std::function<void(int, Options&)>& change) {
  std::mutex mutex;
  std::multiset<std::string> reported;
  std::vector<std::thread> threads;
  for (auto& each : ddl::make_thread_transports({"h1", "h1", "h2"})) {
    threads.emplace_back([&, ranks = std::move(each)]() mutable {
      Options options;
      change(ranks->rank(), options);
      try {
        const Context ddl = ddl::ContextFactory::make(std::move(ranks), options);
      } catch (const ddl::Error& error) {
        const std::lock_guard lock(mutex);
        reported.insert(std::string(error.what()) + " / " + error.where());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return reported;
}

}  // namespace

TEST_CASE("mode r adds up in the ring's order for updates and for many tensors, too") {
  constexpr std::size_t count = 100003;
  constexpr std::size_t few = 100;
  const auto add_up = [&](ddl::Mode mode) {
    std::vector<std::vector<float>> found;
    Options options;
    options.mode = mode;
    run_contexts(packed_hosts(3, 1), options, [&](Context& ddl) {
      const auto element_of_rank = [&](std::size_t i) {
        const float large[] = {1e8F, 1.0F, -1e8F};  // the order of the sum decides what is left
        return large[ddl.rank()] * static_cast<float>(i % 7 + 1);
      };
      std::vector<float> alone(count);
      for (std::size_t i = 0; i < count; ++i) alone[i] = element_of_rank(i);
      std::vector<float> updated = alone;
      std::vector<float> start(alone.begin(), alone.begin() + few);
      std::vector<float> together = start;
      ddl.all_reduce(ddl::tensor(std::span(alone)), Operation::sum);
      std::vector<float> weights(count);
      ddl.all_reduce_update(ddl::tensor(std::span(updated)), Operation::sum,
                            [&](std::size_t first, std::size_t n, const std::byte* sums) {
                              std::memcpy(weights.data() + first, sums, n * sizeof(float));
                            });
      ddl.all_reduce(ddl::tensor(std::span(start)), Operation::sum);
      const ddl::Tensor one[] = {ddl::tensor(std::span(together))};
      ddl.all_reduce_n(one, Operation::sum);
      if (ddl.rank() == 0) found = {alone, weights, start, together};
    });
    return found;
  };
  const auto ring = add_up(ddl::Mode::ring);
  CHECK(ring.at(0) == ring.at(1));
  CHECK(ring.at(2) == ring.at(3));
  const auto best = add_up(ddl::Mode::best);
  CHECK(best.at(0) == best.at(1));
  CHECK(best.at(0) != ring.at(0));
  CHECK(best.at(2) != ring.at(2));
}

TEST_CASE("ranks with other options than rank 0: all are reported whose, and which") {
  const auto narrow = start_with([](int rank, Options& options) {
    if (rank == 2) options.wire = ddl::DataType::float16;
  });
  CHECK(narrow.size() == 3);
  CHECK(narrow.count("rank 2 (h2) was started with -wire float16, rank 0 (h1) with -wire float32 / "
                     "rank 2 (h2)") == 3);
  const auto several = start_with([](int rank, Options& options) {
    options.dims = rank == 1 ? "" : "1x3";
    options.nccl_levels = rank != 1;
    options.rebind_every = rank == 1 ? 7 : 0;
  });
  CHECK(several.count("rank 1 (h1) was started with -mode b -nccl all -rebind_iter 7, rank 0 (h1) with "
                      "-mode b:1x3 -nccl levels -rebind_iter 0 / rank 1 (h1)") == 3);
  CHECK(start_with([](int rank, Options& options) { options.timeout_seconds = 10.0 + rank; }).empty());
}

TEST_SUITE_END();
