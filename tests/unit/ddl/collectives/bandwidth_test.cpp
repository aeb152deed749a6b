// SPDX-License-Identifier: MIT
#include "ddl/collectives/bandwidth.hpp"

#include "tests/support/thread_contexts.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("ddl/collectives/bandwidth");

namespace {

// Rank 1 is waited for: it waits least itself.
std::vector<ddl::BandwidthSample> samples(double first, double second) {
  return {{{{'X', 2e9, 0.1}, {'Y', 1e9, 10.0}}, first}, {{{'X', 2e9, 0.2}, {'Y', 1e9, 8.0}}, second}};
}

}  // namespace

TEST_CASE("a report reports each dimension's speed by its slowest rank, and who came last") {
  ddl::BandwidthReport report;
  const std::vector<std::string> names{"rank 0 (h1)", "rank 1 (h2)"};
  // 2 GB in 0.2 s, 1 GB in 10 s; (1.5 - 0.5) s over 100 sums.
  const std::string line =
      "ddl: 100 sums: X 10 GB/s, Y 0.1 GB/s; last to come: rank 1 (h2), others wait 10 ms a sum";
  CHECK(report.add(samples(1.5, 0.5), names, 100) == line);
  CHECK(report.add(samples(1.5, 0.5), names, 100) == line);
  CHECK(report.add(samples(1.5, 0.5), names, 100) ==
        line + "; the last in 3 reports in a row: see its cores and its host");
  CHECK(report.add(samples(0.5, 1.5), names, 100).find("rank 0 (h1), others wait 10 ms a sum") !=
        std::string::npos);
}

TEST_CASE("a report of NCCL's sums: the time of who comes last is that of the sums") {
  ddl::BandwidthReport report;
  // 4 GB in 0.5 s; rank 0 waits 1.5 s more in 10 sums.
  const std::vector<ddl::BandwidthSample> all{{{{ddl::nccl_dimension, 4e9, 2.0}}, 2.0},
                                              {{{ddl::nccl_dimension, 4e9, 0.5}}, 0.5}};
  CHECK(report.add(all, {"rank 0 (h1)", "rank 1 (h1)"}, 10) ==
        "ddl: 10 sums on GPUs: NCCL 8 GB/s; last to come: rank 1 (h1), others wait 150 ms a sum");
}

TEST_CASE("a sample travels as text") {
  const ddl::BandwidthSample sent{{{'X', 123.0, 0.5}, {'Z', 1e12, 7.25}}, 0.125};
  const ddl::BandwidthSample got = ddl::parse_sample(ddl::render_sample(sent));
  REQUIRE(got.transferred.size() == 2);
  CHECK(got.waited_seconds == sent.waited_seconds);
  CHECK(got.transferred[1].dimension == 'Z');
  CHECK(got.transferred[1].bytes == sent.transferred[1].bytes);
  CHECK(got.transferred[1].seconds == sent.transferred[1].seconds);
}

TEST_CASE("sums stay right while they are measured") {
  ddl::Options options;
  options.dump_every = 2;
  std::vector<int> right(4);
  ddl::tests::run_contexts(ddl::tests::packed_hosts(2, 2), options, [&](ddl::Context& ddl) {
    for (int i = 0; i < 4; ++i) {
      std::vector<float> values(100, 1.0F);
      ddl.all_reduce(ddl::tensor(std::span(values)), ddl::Operation::sum);
      if (values == std::vector<float>(100, 4.0F)) ++right[static_cast<std::size_t>(ddl.rank())];
    }
  });
  CHECK(right == std::vector<int>(4, 4));
}

TEST_SUITE_END();
