// SPDX-License-Identifier: MIT
#include "bench/scaling/bench_plan.hpp"

#include "base/text/error.hpp"
#include "bench/scaling/bench_scaling.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::bench_report;

TEST_SUITE_BEGIN("bench/scaling/bench_plan");

TEST_CASE("numbers of ranks") {
  CHECK(parse_rank_counts("4,1,2,2") == std::vector{1, 2, 4});
  for (const char* text : {"", "0", "1,", "two", "-1", "99999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rank_counts(text), Error);
  }
  CHECK(default_rank_counts({1, 8, 4}) == std::vector{1, 2, 4});
  CHECK(default_rank_counts({1, 8, 3}) == std::vector{1, 2, 3});
  CHECK(default_rank_counts({3, 8, 4}) == std::vector{1, 2, 4, 8, 12});
  CHECK(default_rank_counts({1, 1, 1}) == std::vector{1});
  CHECK(default_sum_counts(1) == std::vector{2});
  CHECK(default_sum_counts(4) == std::vector{2, 4});
}

TEST_CASE("hosts are filled one after the other, each rank with the same cores") {
  const ScalingPlan one = plan_scaling({1, 2, 8}, {1, 16, 4}, 0);
  CHECK(one.cores_a_rank == 2);
  CHECK(one.runs[2].ranks_a_host == 8);
  const ScalingPlan many = plan_scaling({2, 4, 12}, {3, 16, 4}, 0);
  CHECK(many.cores_a_rank == 4);
  CHECK(many.runs[0].hosts == 1);
  CHECK(many.runs[2].hosts == 3);
  CHECK(many.runs[2].ranks_a_host == 4);
  CHECK_THROWS_AS(plan_scaling({6}, {3, 16, 4}, 0), Error);   // does not fill
  CHECK_THROWS_AS(plan_scaling({16}, {3, 16, 4}, 0), Error);  // four hosts
  CHECK_THROWS_AS(plan_scaling({32}, {1, 16, 4}, 0), Error);  // cores
  CHECK(plan_scaling({6}, {3, 16, 4}, 3).runs[0].hosts == 2);
}

TEST_CASE("the trainer's words and the whole command") {
  using Words = std::vector<std::string>;
  CHECK(scaling_trainer_words({}) == Words{"--max-steps", "400", "--epochs", "1000", "--json", "--quiet"});
  CHECK(scaling_trainer_words({"--max-steps=9", "--json"}) == Words{"--max-steps=9", "--json", "--quiet"});
  for (const Words& words :
       {Words{"prog"}, Words{"--global-batch", "64"}, Words{"--global-batch=64"}, Words{"--resume"}}) {
    CAPTURE(words);
    CHECK_THROWS_AS(scaling_trainer_words(words), Error);
  }
  Environment environment;
  environment.executable = "/bin/ddlrun";
  ScalingRequest request;
  request.plan = plan_scaling({8}, {3, 16, 4}, 0);
  request.hosts = {"h1", "h2", "h3"};
  request.launch_options = {"-x", "A"};
  request.trainer_words = {"--json"};
  CHECK(scaling_command(environment, request, request.plan.runs[0]) ==
        Words{"/bin/ddlrun", "launch", "4x2", "h1,h2", "-x", "A", "--cores-per-rank", "4", "--", "--json"});
}

TEST_SUITE_END();
