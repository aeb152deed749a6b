// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_job_state.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::exit_value;
using launch::SshJobState;

namespace {

// Ranks 0 and 1 on h1, 2 and 3 on h2; the last `servers` of them serve.
launch::RankMap job_rank_map(std::uint32_t servers) {
  launch::RankMap rank_map;
  rank_map.kinds = {{{}, {}}};
  rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  launch::RankGroup workers, serving;
  workers.ranks = 4 - servers;
  serving.first = workers.ranks;
  serving.ranks = servers;
  serving.is_service = true;
  if (workers.ranks > 0) rank_map.groups.push_back(workers);
  if (servers > 0) rank_map.groups.push_back(serving);
  return rank_map;
}

}  // namespace

TEST_SUITE_BEGIN("launch/ssh/ssh_job_state");

TEST_CASE("all end well") {
  SshJobState job(job_rank_map(0));
  for (const std::uint32_t rank : {3u, 0u, 2u, 1u}) {
    CHECK_FALSE(job.over());
    const auto actions = job.rank_ended(rank, 0);
    CHECK_FALSE(actions.stop);
    CHECK(actions.messages.empty());
  }
  CHECK(job.over());
  CHECK(job.status() == 0);
  CHECK(job.host_lost(0, "x").messages.empty());  // after the end a connection may go
}

TEST_CASE("the first that fails is reported, ends the others, and gives its status") {
  struct Row {
    std::uint32_t value;
    int status;
    std::string says;
  };
  for (const Row& row :
       {Row{exit_value(7, 0), 7, "rank 2 on h2 failed first: it exited with status 7"},
        Row{exit_value(137, 9), 137,
            "rank 2 on h2 failed first: it was ended by signal 9 (SIGKILL), status 137"},
        Row{exit_value(137, 0), 137, "rank 2 on h2 failed first: it exited with status 137"},
        Row{exit_value(255, 0), 255, "rank 2 on h2 failed first: it exited with status 255"}}) {
    CAPTURE(row.status);
    SshJobState job(job_rank_map(0));
    CHECK_FALSE(job.rank_ended(0, 0).stop);
    const auto actions = job.rank_ended(2, row.value);
    CHECK(actions.stop);
    REQUIRE(actions.messages.size() == 1);
    CHECK(actions.messages[0] == row.says);
    const auto later = job.rank_ended(3, exit_value(143, 15));
    CHECK_FALSE(later.stop);
    CHECK(later.messages.empty());
    CHECK(job.rank_ended(2, 0).messages.empty());   // twice
    CHECK(job.rank_ended(99, 1).messages.empty());  // no one
    job.rank_ended(1, exit_value(143, 15));
    CHECK(job.over());
    CHECK(job.status() == row.status);
  }
}

TEST_CASE("servers end once the workers have, and that is success") {
  SshJobState job(job_rank_map(2));
  CHECK(job.rank_ended(0, 0).end.empty());
  CHECK(job.rank_ended(1, 0).end == std::vector<std::uint32_t>{2, 3});
  CHECK(job.rank_ended(2, exit_value(143, 15)).messages.empty());
  CHECK_FALSE(job.over());
  CHECK(job.host_lost(1, "gone").messages.empty());
  CHECK(job.over());
  CHECK(job.status() == 0);
}

TEST_CASE("a server that fails before fails the job") {
  SshJobState job(job_rank_map(1));
  CHECK(job.rank_ended(3, 1).stop);
  job.rank_ended(0, 399);
  job.rank_ended(1, 399);
  job.rank_ended(2, 399);
  CHECK(job.status() == 1);
}

TEST_CASE("where all serve, all are waited for") {
  SshJobState job(job_rank_map(4));
  for (std::uint32_t rank = 0; rank < 4; ++rank) CHECK(job.rank_ended(rank, 0).end.empty());
  CHECK(job.over());
}

TEST_CASE("a lost host ends the job with status 5") {
  SshJobState job(job_rank_map(0));
  job.rank_ended(2, 0);
  const auto actions = job.host_lost(1, "Timeout, server h2 not responding.");
  CHECK(actions.stop);
  REQUIRE(actions.messages.size() == 1);
  CHECK(actions.messages[0] == "host h2 was lost with 1 rank: Timeout, server h2 not responding.");
  CHECK(job.is_over(1));
  CHECK_FALSE(job.is_over(0));
  CHECK(job.rank_ended(0, exit_value(143, 15)).messages.empty());
  job.rank_ended(1, exit_value(143, 15));
  CHECK(job.over());
  CHECK(job.status() == 5);
}

TEST_CASE("reported to stop: ranks end as they like, the first that minds gives the status") {
  SshJobState job(job_rank_map(0));
  job.expect_any_status();
  CHECK_FALSE(job.rank_ended(0, 0).stop);
  CHECK_FALSE(job.rank_ended(1, 75).stop);
  CHECK(job.rank_ended(2, 399).messages.empty());
  CHECK(job.host_lost(1, "").messages.empty());
  CHECK(job.over());
  CHECK(job.status() == 75);
}

TEST_SUITE_END();
