// SPDX-License-Identifier: MIT
// What is reported options that do not count, and of numbers that cannot be meant.
#include "runtime/app/option_warnings.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

// A run of 16 steps on 3 classes of photos, on 2 processors.
RunContext measure_small_run() {
  RunContext run;
  run.data_kind = "directories of images";
  run.total_steps = 16;
  run.processors = 2;
  run.outputs = 3;
  run.classes = 3;
  run.last_layer = "n.yaml:3:5";
  return run;
}

std::string warnings_of(std::vector<std::string> words, const RunContext& run) {
  std::string text;
  for (const Message& note : find_option_warnings(parse_train_options(words), run))
    text += note.what + " | " + note.hint + "\n";
  return text;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/app/option_warnings");

// namespace

TEST_CASE("images that each epoch drops: more than a tenth is a warning") {
  RunFacts facts;
  facts.ranks = 4;
  facts.train_images = 240;
  facts.global_batch = 192;
  facts.local_batch = 48;
  facts.dropped_per_epoch = 48;  // 240 - 192
  const auto warning = find_dropped_images(facts);
  REQUIRE(warning);
  CHECK(warning->what == "each epoch drops 48 of 240 training images, which do not fill a global batch");
  CHECK(warning->hint == "--global-batch 120");  // 2 steps; 121 to 188 would drop 52 or more
  facts.dropped_per_epoch = 24;
  CHECK_FALSE(find_dropped_images(facts));
}

TEST_CASE("option warnings: options that count, and the same where they do not") {
  struct Row {
    std::vector<std::string> idle;
    std::vector<std::string> counting;
    const char* reported;
  };
  const Row rows[] = {
      {{"--trust-coefficient", "5"},
       {"--trust-coefficient", "5", "--optimizer", "lars"},
       "--trust-coefficient 5 (used only with --optimizer lars)"},
      {{"--beta2", "0.5", "--optimizer", "rmsprop"},
       {"--beta2", "0.5", "--optimizer", "adam"},
       "--beta2 0.5"},
      {{"--momentum", "0.5", "--optimizer", "rmsprop"}, {"--momentum", "0.5"}, "--momentum 0.5"},
      {{"--momentum", "0.5", "--optimizer", "adagrad"},
       {"--momentum", "0.5", "--optimizer", "adadelta"},
       "--momentum 0.5"},
      {{"--rms-decay", "0.5"}, {"--rms-decay", "0.5", "--optimizer", "rmsprop"}, "--rms-decay 0.5"},
      {{"--epsilon", "1e-8"}, {"--epsilon", "1e-8", "--optimizer", "adagrad"}, "--epsilon 1e-8"},
      {{"--rule-form", "caffe", "--optimizer", "adagrad"}, {"--rule-form", "caffe"}, "--rule-form caffe"},
      {{"--regularization", "l1"},
       {"--regularization", "l1", "--weight-decay", "0.1"},
       "--regularization l1"},
      {{"--lr-power", "2"}, {"--lr-power", "2", "--lr-decay", "poly"}, "--lr-power 2"},
      {{"--lr-gamma", "0.5"}, {"--lr-gamma", "0.5", "--lr-decay", "exp"}, "--lr-gamma 0.5"},
      {{"--epochs", "2", "--total-steps", "16"}, {"--epochs", "2"}, "--epochs 2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.reported);
    CHECK(warnings_of(row.idle, measure_small_run())
              .find("options without effect in this run: " + std::string(row.reported)) != std::string::npos);
    CHECK(warnings_of(row.counting, measure_small_run()).empty());
  }
  CHECK(warnings_of({"--trust-coefficient", "5", "--lr-power", "2"}, measure_small_run())
            .find("without --trust-coefficient and --lr-power") != std::string::npos);
}

TEST_CASE("option warnings: sizes are for images in files") {
  RunContext run = measure_small_run();
  const std::vector<std::string> words{"--resize", "14", "--channels", "1"};
  CHECK(warnings_of(words, run).empty());
  for (const char* kind : {"MNIST's IDX files", "CIFAR-10's binary files"}) {
    CAPTURE(kind);
    run.data_kind = kind;
    const std::string reported = warnings_of(words, run);
    CHECK(reported.find("--resize 14") != std::string::npos);
    CHECK(reported.find("--channels 1") != std::string::npos);
  }
}

TEST_CASE("option warnings: what Caffe's files brought, no user can leave out") {
  RunContext run = measure_small_run();
  const std::vector<std::string> from_files{"--trust-coefficient"};
  run.from_files = from_files;
  CHECK(warnings_of({"--trust-coefficient", "5"}, run).empty());
}

TEST_CASE("option warnings: numbers that cannot be meant") {
  struct Row {
    std::vector<std::string> odd;
    std::vector<std::string> even;
    const char* reported;
  };
  const Row rows[] = {
      {{"--warmup-steps", "16"}, {"--warmup-steps", "15"}, "it has 16 steps, but the warm-up 16"},
      {{"--lr-decay", "multistep", "--lr-step", "5,16"},
       {"--lr-decay", "multistep", "--lr-step", "5,15"},
       "the learning rate does not fall at step 16: the run has only 16 steps"},
      {{"--max-steps", "17", "--epochs", "2"},
       {"--max-steps", "16", "--epochs", "2"},
       "--epochs 2 ends before --max-steps 17: the run has 16 steps | --max-steps 17 without --epochs"},
      {{"--threads", "3"}, {"--threads", "2"}, "3 threads of this rank share 2 processor(s) | --threads 2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.reported);
    CHECK(warnings_of(row.odd, measure_small_run()).find(row.reported) != std::string::npos);
    CHECK(warnings_of(row.even, measure_small_run()).empty());
  }
}

TEST_CASE("option warnings: more outputs than classes") {
  RunContext run = measure_small_run();
  run.outputs = 5;
  CHECK(warnings_of({}, run) ==
        "the net has 5 outputs, but the data has 3 classes: 2 outputs are never used | outputs: classes\n");
  run.caffe_net = true;
  CHECK(warnings_of({}, run).find("| num_output: 3") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
