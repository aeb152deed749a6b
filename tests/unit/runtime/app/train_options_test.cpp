// SPDX-License-Identifier: MIT
#include "runtime/app/train_options.hpp"

#include "base/text/text.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/core/other_words.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

TrainOptions parse(std::vector<std::string> words) { return parse_train_options(words); }

}  // namespace
TEST_SUITE_BEGIN("runtime/app/train_options");

// namespace

TEST_CASE("options: values in both spellings") {
  const TrainOptions options =
      parse({"--net=mlp", "--lr", "0.5", "--json", "--lr-decay=none", "--seed", "0"});
  CHECK(options.net == "mlp");
  CHECK(options.lr == 0.5);
  CHECK(options.json);
  CHECK(options.lr_decay == LrDecay::none);
  CHECK(options.seed == 0);
}

TEST_CASE("options: errors suggest what was meant") {
  struct Case {
    const char* part;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"did you mean --epochs?", {"--epoch", "3"}},
      {"unknown argument 'run'", {"run"}},
      {"unknown argument ''", {""}},
      {"--lr needs a value", {"--lr"}},
      {"--json takes no value", {"--json=yes"}},
      {"--lr is given twice", {"--lr", "1", "--lr=2"}},
      {"'0' is not a whole number from 1", {"--epochs", "0"}},
      {"'-3' is not a whole number", {"--epochs", "-3"}},
      {"'nan' is not a number", {"--lr", "nan"}},
      {"'1e999' is not a number", {"--lr", "1e999"}},
      {"'0.1x' is not a number", {"--lr", "0.1x"}},
      {"'' is not a number", {"--lr", ""}},
      {"did you mean lenet5?", {"--net", "lenet"}},
      {"unknown value 'gpu': must be one of cpu, cuda", {"--device", "gpu"}},
      {"the path is empty", {"--data="}},
      {"conflicts with --global-batch 8", {"--batch-size", "8", "--global-batch", "8"}},
      {"--lr-scale linear cannot be used", {"--global-batch", "8", "--lr-scale", "linear"}},
  };
  for (const Case& c : cases) {
    expect_error(ErrorKind::usage, c.part, [&] { parse(c.words); });
  }
}

TEST_CASE("options: hints keep what was right, and are accepted") {
  struct Row {
    std::vector<std::string> words;
    std::string hint;
  };
  const Row rows[] = {
      {{"--net", "mlp", "--lrr", "1"}, "ddl-train --net mlp --lr 1"},
      {{"--lrr=1", "--quiet"}, "ddl-train --lr=1 --quiet"},
      {{"--device", "gpu"}, "--device cuda"},
      {{"--device", "GPU:0"}, "--device cuda"},
      {{"--momentum", "1"}, "--momentum 0.9"},
      {{"--momentum", "1.5"}, "--momentum 0.9"},
      {{"--stall-timeout", "-1"}, "--stall-timeout 30"},
      {{"--scale", "0"}, "--scale 0.00390625"},
      {{"--optimizer", "adam", "--epsilon", "0"}, "--epsilon 1e-8"},
      {{"--optimizer", "lars", "--trust-coefficient", "0"}, "--trust-coefficient 0.001"},
      {{"--max-steps", "3", "--max-steps", "5"}, "--max-steps 5   # and remove --max-steps 3"},
      {{"--quiet", "--quiet"}, "--quiet   # once"},
      {{"--lr", "1e31"}, "--lr 0.02"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hint);
    const Message reported = expect_error(ErrorKind::usage, "", [&] { parse(row.words); });
    CHECK(reported.hint == row.hint);
    std::vector<std::string> typed;
    const std::string typed_line = reported.hint.substr(0, reported.hint.find("   #"));
    for (const std::string_view word : split(typed_line, ' ')) typed.emplace_back(word);
    if (typed.front() == "ddl-train") typed.erase(typed.begin());
    CHECK_NOTHROW(parse(typed));
  }
  std::vector<std::string> many{"--lrr", "1"};
  for (const char* word :
       {"--net", "mlp", "--max-steps", "3", "--seed", "2", "--epochs", "4", "--json", "--quiet"})
    many.emplace_back(word);
  CHECK(expect_error(ErrorKind::usage, "", [&] {
          parse(many);
        }).hint.starts_with("ddl-train --lr 1 --net mlp"));
  many.emplace_back("--mirror");
  CHECK(expect_error(ErrorKind::usage, "", [&] { parse(many); }).hint == "--lr 1   # instead of --lrr");
}

TEST_CASE("options: --max-steps is a limit, --total-steps an exact number") {
  CHECK(parse({"--max-steps", "7"}).max_steps == 7);
  CHECK(parse({"--max-steps", "7"}).total_steps == 0);
  CHECK(parse({"--total-steps", "7"}).total_steps == 7);
  CHECK(parse({"--total-steps", "7"}).max_steps == 0);
}

TEST_CASE("options: a share says where it ends") {
  expect_error(ErrorKind::usage, "'1' is not a number of at least 0 and less than 1", [] {
    parse({"--momentum", "1"});
  });
  expect_error(ErrorKind::usage, "--max-steps is given twice, as '3' and as '5'", [] {
    parse({"--max-steps", "3", "--max-steps=5"});
  });
  CHECK(parse({"-h"}).help);
  // The words of other trainers.
  expect_error(ErrorKind::usage, "did you mean --lr-decay?", [] { parse({"--lr-schedule", "step"}); });
  expect_error(ErrorKind::usage, "did you mean --mirror?", [] { parse({"--flip"}); });
  expect_error(ErrorKind::usage, "both choose the test images", [] {
    parse({"--val-fraction", "0.2", "--test-data", "d"});
  });
  // The value too is what the option takes.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--arch", "resnet18"}, {"--model", "resnet18"}})
    CHECK(expect_error(ErrorKind::usage, "did you mean --net?", [&] { parse(words); }).hint ==
          "ddl-train --net resnet-18");
  CHECK(expect_error(ErrorKind::usage, "did you mean --net?", [] { parse({"--model=resnet18"}); }).hint ==
        "ddl-train --net=resnet-18");
}

TEST_CASE("options: words of other trainers, and no option that cannot take the value") {
  struct Row {
    std::vector<std::string> words;
    std::string hint;
  };
  const Row rows[] = {
      {{"--val", "photos/val"}, "ddl-train --test-data photos/val"},
      {{"--val", "0.2"}, "ddl-train --val-fraction 0.2"},
      {{"--save", "run1"}, "ddl-train --checkpoint run1"},
      {{"--output_dir=run1"}, "ddl-train --checkpoint=run1"},
      {{"--train-dir", "photos", "--quiet"}, "ddl-train --data photos --quiet"},
      {{"-a", "resnet18"}, "ddl-train --net resnet-18"},
      {{"--weight_decay", "0.1"}, "ddl-train --weight-decay 0.1"},
      {{"--wd", "0.1"}, "ddl-train --weight-decay 0.1"},
      {{"-j", "4"}, "ddl-train --data-threads 4"},
      {{"-b", "32"}, "ddl-train --batch-size 32"},
      {{"--gpu", "0", "--quiet"}, "ddl-train --device cuda --quiet"},
      {{"--cuda", "--quiet"}, "ddl-train --device cuda --quiet"},
      {{"--imgsz", "64"}, "ddl-train --resize 64"},
      {{"--learning_rate", "0.1"}, "ddl-train --lr 0.1"},
      {{"--num_epochs", "3"}, "ddl-train --epochs 3"},
      {{"--scal", "x"}, "ddl-train --help"},  // --scale takes a number
  };
  for (const Row& row : rows) {
    CAPTURE(row.words[0]);
    CHECK(expect_error(ErrorKind::usage, "unknown option", [&] { parse(row.words); }).hint == row.hint);
  }
  // Behind a launcher's words, which a hint cannot repeat.
  const std::vector<std::string> launched{"--train", "photos"};
  CHECK(expect_error(ErrorKind::usage, "did you mean --data?", [&] {
          parse_train_options(launched, TypedAt::launcher);
        }).hint == "--data photos   # instead of --train");
  expect_error(ErrorKind::usage, "'--pretrained': no trained nets come with ddl-train",
               [] { parse({"--pretrained"}); });
  CHECK(expect_error(ErrorKind::usage, "a run does not end early", [] {
          parse({"--early_stopping", "5"});
        }).hint.starts_with("--checkpoint DIR"));
  // Each word leads to an option that exists.
  for (const OtherWord& other : other_words()) {
    CAPTURE(other.theirs);
    CHECK_FALSE(find_missing_option(other.theirs));
    CHECK_FALSE(is_launch_option(other.theirs));
    const auto references = describe_train_options();
    CHECK(
        std::ranges::any_of(references, [&](const OptionReference& o) { return o.names[0] == other.ours; }));
  }
}

TEST_CASE("options: a learning rate that fits the optimizer and the batch") {
  struct Row {
    std::vector<std::string> words;
    double lr, factor;  // for 4 ranks
  };
  const Row rows[] = {
      {{}, 0.02, 4.0},
      {{"--optimizer", "nesterov"}, 0.02, 4.0},
      {{"--optimizer", "adam"}, 0.001, 2.0},
      {{"--optimizer", "rmsprop"}, 0.01, 2.0},
      {{"--optimizer", "adagrad"}, 0.01, 2.0},
      {{"--optimizer", "adadelta"}, 1.0, 2.0},
      {{"--optimizer", "lars"}, 2.0, 4.0},
      {{"--optimizer", "adam", "--lr", "0.1"}, 0.1, 2.0},
      {{"--optimizer", "adam", "--lr-scale", "linear"}, 0.001, 4.0},
      {{"--optimizer", "adam", "--global-batch", "64"}, 0.001, 1.0},
  };
  for (const Row& row : rows) {
    CAPTURE(join(row.words, " "));
    const BatchPlan plan = plan_batch(parse(row.words), 4);
    CHECK(plan.lr == row.lr);
    CHECK(plan.lr_factor == row.factor);
    CHECK(make_schedule(parse(row.words), plan.lr_factor).peak == doctest::Approx(row.lr * row.factor));
  }
  const BatchPlan few = plan_batch(parse({"--optimizer", "adam"}), 4, 240);  // batch 4 instead of 64
  CHECK(few.choice == "240 images for 4 ranks, so: --batch-size 4 --lr 0.00025");
  CHECK(few.lr_factor == doctest::Approx(0.5));
}

TEST_CASE("options: the batch of all ranks and the learning rate that follows it") {
  CHECK(plan_batch(parse({}), 4).global_batch == 256);
  // Few images of one's own: 240 / (4 ranks x 8 steps) = 7.5, so 4 a rank; the rate of 64 falls to 4 / 64.
  const BatchPlan few = plan_batch(parse({}), 4, 240);
  CHECK(few.global_batch == 16);
  CHECK(few.lr_factor == 0.25);
  CHECK(few.choice == "240 images for 4 ranks, so: --batch-size 4 --lr 0.00125");
  CHECK(few.lr == 0.00125);
  CHECK(plan_batch(parse({"--lr", "0.1"}), 4, 240).lr_factor == 4.0);
  CHECK(plan_batch(parse({"--lr", "0.1"}), 4, 240).lr == 0.1);
  CHECK(plan_batch(parse({"--lr", "0.1"}), 4, 240).choice == "240 images for 4 ranks, so: --batch-size 4");
  CHECK(plan_batch(parse({"--batch-size", "4", "--lr", "0.00125"}), 4, 240).global_batch == 16);
  CHECK(plan_batch(parse({"--batch-size", "64"}), 4, 240).global_batch == 256);
  CHECK(plan_batch(parse({"--global-batch", "120"}), 4, 240).choice.empty());
  CHECK(plan_batch(parse({}), 4, 2048).global_batch == 256);  // 8 steps
  CHECK(plan_batch(parse({}), 4, 2047).global_batch == 128);
  CHECK(plan_batch(parse({}), 4, 5).global_batch == 4);
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

TEST_SUITE_END();

}  // namespace ddlrun::runtime
