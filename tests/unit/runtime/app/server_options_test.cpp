// SPDX-License-Identifier: MIT
// What is said about parameter servers on the command line, and what it means for batch and rate.
#include "runtime/app/train_options.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

TrainOptions parse_server_words(const std::vector<std::string>& words) { return parse_train_options(words); }

}  // namespace
TEST_SUITE_BEGIN("runtime/app/server_options");

// namespace

TEST_CASE("server options: what contradicts itself is refused with a word to type") {
  struct Row {
    std::vector<std::string> words;
    const char* text;
  };
  for (const Row& row : {
           Row{{"--async"}, "--async needs parameter servers"},
           Row{{"--staleness", "2"}, "--staleness needs --async"},
           Row{{"--parameter-servers", "1", "--staleness", "2"}, "--staleness needs --async"},
           Row{{"--parameter-servers", "1", "--lms", "64"}, "--lms cannot be used with --parameter-servers"},
           Row{{"--parameter-servers", "1", "--overlap", "on"},
               "--overlap cannot be used with --parameter-servers"},
           Row{{"--parameter-servers", "1", "--bucket-kb", "64"},
               "--bucket-kb cannot be used with --parameter-servers"},
           Row{{"--parameter-servers", "1", "--optimizer-placement", "rank"},
               "--optimizer-placement cannot be used with --parameter-servers"},
           Row{{"--parameter-servers", "1", "--grad-dtype", "fp16"},
               "--grad-dtype cannot be used with --parameter-servers"},
           Row{{"--parameter-servers", "1", "--data-sharding", "host"},
               "--data-sharding cannot be used with --parameter-servers"},
       }) {
    CAPTURE(row.text);
    expect_error(ErrorKind::usage, row.text, [&] { parse_server_words(row.words); });
  }
  const TrainOptions options =
      parse_server_words({"--parameter-servers", "2", "--async", "--staleness", "0"});
  CHECK(options.parameter_servers == 2);
  CHECK(options.asynchronous);
  CHECK(options.staleness == 0);
}

// An asynchronous update is made of one worker's batch, a synchronous one of all workers' batches.
TEST_CASE("server options: the rate follows the batch of an update") {
  struct Row {
    std::vector<std::string> words;
    double factor;
  };
  for (const Row& row : {
           Row{{"--parameter-servers", "1", "--batch-size", "8"}, 3.0},
           Row{{"--parameter-servers", "1", "--batch-size", "8", "--async"}, 1.0},
           Row{{"--parameter-servers", "1", "--batch-size", "8", "--async", "--lr-scale", "linear"}, 3.0},
       }) {
    const BatchPlan plan = plan_batch(parse_server_words(row.words), 3);
    CHECK(plan.global_batch == 24);
    CHECK(plan.lr_factor == row.factor);
  }
}

TEST_CASE("server roles: who cannot be a server or a worker is reported what can be") {
  struct Row {
    std::size_t servers;
    std::size_t ranks;
    bool fits;
  };
  for (const Row& row : {Row{1, 1, false}, Row{1, 2, true}, Row{2, 2, false}, Row{0, 2, false},
                         Row{3, 4, true}, Row{5, 4, false}}) {
    CAPTURE(row.servers);
    CAPTURE(row.ranks);
    if (row.fits) {
      CHECK_NOTHROW(check_roles({row.servers}, row.ranks));
    } else {
      expect_error(ErrorKind::usage, "leave no worker", [&] { check_roles({row.servers}, row.ranks); });
    }
  }
  TrainPlan plan;
  plan.accumulate = 2;
  expect_error(ErrorKind::usage, "--gradient-accumulation 2", [&] { check_servers(plan, {1}, 2); });
  plan.accumulate = 1;
  plan.optimizer.clip = 1.0;
  expect_error(ErrorKind::usage, "--clip needs norms", [&] { check_servers(plan, {1}, 2); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
