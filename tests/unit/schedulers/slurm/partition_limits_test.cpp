// SPDX-License-Identifier: MIT
#include "schedulers/slurm/partition_limits.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::schedulers;

TEST_SUITE_BEGIN("schedulers/slurm/partition_limits");

TEST_CASE("a job above the limits of all its partitions is found before it is submitted") {
  // sinfo -h -o "%P %l %s", Slurm 22.05
  const auto all = parse_partition_limits(
      "normal* 2-00:00:00 1-4\ndebug 30:00 1-infinite\nlong infinite 1-2\nhour 1:00:00 1\nodd\n");
  REQUIRE(all.size() == 4);
  CHECK(all[0].is_default);
  CHECK(all[0].seconds == 172'800);
  CHECK(all[1].seconds == 1800);
  CHECK_FALSE(all[2].seconds.has_value());
  CHECK(all[2].most_nodes == 2);
  CHECK(all[3].seconds == 3600);
  struct Row {
    std::string queue;
    std::uint64_t hours;
    std::uint32_t nodes;
    std::string what;  // "" where it fits
  };
  const Row rows[] = {
      {"", 48, 4, ""},
      {"", 72, 2,
       "the walltime is above the limit of partition normal, 2-00:00:00: the job would wait forever"},
      {"", 1, 5,
       "5 nodes are requested, and a job in partition normal can have 4: the job would wait forever"},
      {"long", 1000, 2, ""},
      {"long", 1, 3,
       "3 nodes are requested, and a job in partition long can have 2: the job would wait forever"},
      {"debug,long", 72, 1, ""},
      {"debug,hour", 72, 1,
       "the walltime is above the limit of partition debug, 30:00: the job would wait forever"},
      {"elsewhere", 72, 99, ""},
      {"debug", 0, 1, ""},   // the site's default
      {"debug", 0, 99, ""},  // sinfo may omit nodes: only a limit counts
  };
  for (const Row& row : rows) {
    CAPTURE(row.queue);
    CAPTURE(row.hours);
    JobSpec job;
    job.queue = row.queue;
    job.walltime_seconds = row.hours * 3600;
    job.dims = {1, row.nodes, 1, 1};
    const auto fault = find_limit_fault(job, all);
    CHECK((fault ? fault->what : "") == row.what);
  }
}

TEST_SUITE_END();
