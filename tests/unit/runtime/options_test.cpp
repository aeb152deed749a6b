// SPDX-License-Identifier: MIT
#include "runtime/options.hpp"

#include "base/text.hpp"
#include "runtime/train_options.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

TrainOptions parse(std::vector<std::string> words) { return parse_train_options(words); }

}  // namespace

TEST_CASE("options: values in both spellings") {
  const TrainOptions options =
      parse({"--net=mlp", "--lr", "0.5", "--json", "--lr-decay=none", "--seed", "0"});
  CHECK(options.net == "mlp");
  CHECK(options.lr == 0.5);
  CHECK(options.json);
  CHECK(options.lr_decay == LrDecay::none);
  CHECK(options.seed == 0);
}

TEST_CASE("options: refusals tell what was meant") {
  struct Case {
    const char* part;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"did you mean --epochs?", {"--epoch", "3"}},
      {"there is no argument 'run'", {"run"}},
      {"there is no argument ''", {""}},
      {"--lr needs a value", {"--lr"}},
      {"--json takes no value", {"--json=yes"}},
      {"--lr is given 2 times", {"--lr", "1", "--lr=2"}},
      {"'0' is not a whole number from 1", {"--epochs", "0"}},
      {"'-3' is not a whole number", {"--epochs", "-3"}},
      {"'nan' is not a number", {"--lr", "nan"}},
      {"'1e999' is not a number", {"--lr", "1e999"}},
      {"'0.1x' is not a number", {"--lr", "0.1x"}},
      {"'' is not a number", {"--lr", ""}},
      {"did you mean lenet5?", {"--net", "lenet"}},
      {"'gpu' is none of cpu, cuda", {"--device", "gpu"}},
      {"the directory is empty", {"--data="}},
      {"exclude each other", {"--batch-size", "8", "--global-batch", "8"}},
      {"nothing to follow", {"--global-batch", "8", "--lr-scale", "linear"}},
  };
  for (const Case& c : cases) {
    expect_error(ErrorKind::usage, c.part, [&] { parse(c.words); });
  }
}

TEST_CASE("options: the batch of all ranks and the learning rate that follows it") {
  CHECK(plan_batch(parse({}), 4).global_batch == 256);
  CHECK(plan_batch(parse({}), 4).lr_factor == 4.0);
  CHECK(plan_batch(parse({"--batch-size", "10", "--lr-scale", "sqrt"}), 4).global_batch == 40);
  CHECK(plan_batch(parse({"--batch-size", "10", "--lr-scale", "sqrt"}), 4).lr_factor == 2.0);
  CHECK(plan_batch(parse({"--lr-scale", "none"}), 4).lr_factor == 1.0);
  for (const std::size_t ranks : {1U, 2U, 4U}) {
    CHECK(plan_batch(parse({"--global-batch", "64"}), ranks).global_batch == 64);
    CHECK(plan_batch(parse({"--global-batch", "64"}), ranks).lr_factor == 1.0);
  }
}

TEST_CASE("options: the help fits a terminal and names every option") {
  const std::string help = render_train_help();
  for (const std::string_view line : split(help, '\n')) CHECK_MESSAGE(line.size() <= 100, line);
  for (const char* name :
       {"--net", "--data", "--global-batch", "--lr-scale", "--threads", "--metrics", "--help"}) {
    CHECK_MESSAGE(help.find(name) != std::string::npos, name);
  }
}

}  // namespace ddlrun::runtime
