// SPDX-License-Identifier: MIT
#include "bench/scaling/bench_plan.hpp"

#include "base/text/error.hpp"
#include "bench/scaling/bench_scaling.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <algorithm>

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

// As ddl-train does on 600 images: 64 images for one rank, 32 for each of two, unless --batch-size says it.
ProcessResult train_as_chosen(const Command& command) {
  const int ranks = command[2] == "1x1" ? 1 : 2;
  int batch = ranks == 1 ? 64 : 32;
  const auto given = std::find(command.begin(), command.end(), "--batch-size");
  if (given != command.end()) batch = std::stoi(given[1]);
  ProcessResult result;
  result.out =
      R"({"schema":"ddlrun.train/1","net":"x","threads":1,"steps":9,"images_s":5.5,"comm_percent":4,"ranks":)" +
      std::to_string(ranks) + R"(,"global_batch":)" + std::to_string(ranks * batch) + "}\n";
  return result;
}

TEST_CASE("without a batch in the words, all runs have that of the most ranks, which run first") {
  tests::FakeSystem fake;
  fake.processes.answer = train_as_chosen;
  ScalingRequest request;
  request.plan = plan_scaling({1, 2}, {1, 2, 2}, 0);
  request.given_words = {"--data", "photos"};
  request.trainer_words = scaling_trainer_words(request.given_words);
  request.repeat = 2;
  System system = fake.interfaces();
  const Scaling scaling = run_scaling(system, request);
  CHECK(scaling.batch_a_rank == 32);
  REQUIRE(scaling.rows.size() == 2);
  CHECK(scaling.rows[0].run.ranks == 1);
  REQUIRE(fake.processes.ran.size() == 4);
  CHECK(fake.processes.ran[0][2] == "2x1");
  CHECK(std::ranges::count(fake.processes.ran[0], "--batch-size") == 0);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(std::vector(fake.processes.ran[i].end() - 2, fake.processes.ran[i].end()) ==
          std::vector<std::string>{"--batch-size", "32"});
  CHECK(fake.err.starts_with("ddlrun: 1 of 4: 2 ranks on 1 host ...\n"));
}

TEST_CASE("with a batch in the words the runs keep their order and the words") {
  tests::FakeSystem fake;
  fake.processes.answer = train_as_chosen;
  ScalingRequest request;
  request.plan = plan_scaling({1, 2}, {1, 2, 2}, 0);
  request.trainer_words = request.given_words = {"--batch-size", "16"};
  System system = fake.interfaces();
  CHECK(run_scaling(system, request).batch_a_rank == 16);
  CHECK(fake.processes.ran[0][2] == "1x1");
  CHECK(std::ranges::count(fake.processes.ran[1], "--batch-size") == 1);
  using Words = std::vector<std::string>;
  CHECK(batch_words({"--gradient-accumulation", "4"}, 128) == Words{"--batch-size", "32"});
  CHECK(batch_words({"--gradient-accumulation=2"}, 128) == Words{"--batch-size", "64"});
}

TEST_CASE("runs that cannot be compared: the command to type keeps the user's words") {
  tests::FakeSystem fake;
  fake.processes.answer = train_as_chosen;
  ScalingRequest request;
  request.plan = plan_scaling({1, 2}, {1, 2, 2}, 0);
  request.trainer_words = request.given_words = {"--solver", "s.prototxt", "--data", "my photos"};
  System system = fake.interfaces();
  try {
    run_scaling(system, request);
    FAIL("different batches were compared");
  } catch (const Error& error) {
    CHECK(error.message().hint ==
          "ddlrun bench scaling --ranks 1,2 -- --solver s.prototxt --data 'my photos' --batch-size 32");
  }
}

TEST_SUITE_END();
