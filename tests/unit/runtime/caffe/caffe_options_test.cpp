// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_options.hpp"

#include "base/text/text.hpp"
#include "runtime/app/train_options.hpp"
#include "runtime/caffe/caffe_command_line.hpp"
#include "tests/unit/runtime/caffe/caffe_support.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

using Words = std::vector<std::string>;

// What the files add to these words.
std::string lay_under(const CaffeRun& run, const Words& words) {
  const CaffeOptions laid = merge_caffe_options(run, words);
  REQUIRE(Words(laid.args.begin(), laid.args.begin() + static_cast<std::ptrdiff_t>(words.size())) == words);
  return join(std::span(laid.args).subspan(words.size()), " ");
}

}  // namespace
TEST_SUITE_BEGIN("runtime/caffe/caffe_options");

// namespace

TEST_CASE("caffe options: a solver in our own options") {
  const CaffeRun run = read_caffe_run(example_file("lenet_solver.prototxt"), "");
  CHECK(lay_under(run, {}) ==
        "--lr 0.01 --lr-decay inv --lr-gamma 0.0001 --lr-power 0.75 --optimizer sgd --rule-form caffe "
        "--momentum 0.9 "
        "--weight-decay 0.0005 --lr-scale none --total-steps 10000 --test-every 500 --checkpoint "
        "lenet_snapshots "
        "--checkpoint-every 5000 --batch-size 64 --data examples/mnist/mnist_train_lmdb --test-data "
        "examples/mnist/mnist_test_lmdb --scale 0.00390625");
  CHECK(
      lay_under(read_caffe_run(prototxt_file("valid/all_solver.prototxt"), ""), {"--data", "d"}) ==
      "--lr 0.1 --lr-decay multistep --lr-gamma 0.1 --lr-step 32000,48000 --warmup-steps 400 --optimizer "
      "nesterov "
      "--rule-form caffe --momentum 0.9 --weight-decay 0.0001 --regularization l1 --clip 35 --lr-scale none "
      "--total-steps "
      "64000 --gradient-accumulation 2 --seed 7 --checkpoint folder/snap --checkpoint-every 1000 "
      "--batch-size 64 "
      "--scale "
      "0.00390625");
}

TEST_CASE("caffe options: a net's data") {
  const auto words = [](const std::string& file) { return lay_under(read_caffe_run("", file), {}); };
  CHECK(words(prototxt_file("valid/resnet50_train_val.prototxt")) ==
        "--batch-size 32 --data ilsvrc12_train_lmdb --test-data ilsvrc12_val_lmdb --scale 1 --mean "
        "104,117,123 --crop "
        "224x224 --mirror");
  CHECK(words(example_file("cifar10_quick_train_test.prototxt")) ==
        "--batch-size 100 --data examples/cifar10/cifar10_train_lmdb --test-data "
        "examples/cifar10/cifar10_test_lmdb "
        "--scale 1 --mean examples/cifar10/mean.binaryproto");
  CHECK(words(prototxt_file("valid/intel_train_val.prototxt")) ==
        "--batch-size 16 --data synthetic:3x32x32x10:10000 --scale 1");
}

TEST_CASE("caffe options: what the user writes wins, and is reported") {
  const CaffeRun run = read_caffe_run(example_file("lenet_solver.prototxt"), "");
  struct Row {
    Words users;
    Words gone;
    std::string reported;
  };
  const Row rows[] = {
      {{"--lr", "0.02"}, {"--lr 0.01"}, "--lr 0.02 instead of base_lr 0.01"},
      {{"--lr=0.02"}, {"--lr 0.01"}, "--lr 0.02 instead of base_lr 0.01"},
      {{"--lr-decay", "cosine"},
       {"--lr-decay inv", "--lr-gamma", "--lr-power"},
       "--lr-decay cosine instead of lr_policy inv, --lr-decay cosine instead of gamma 0.0001, --lr-decay "
       "cosine "
       "instead of power 0.75"},
      {{"--global-batch", "128"}, {"--batch-size"}, "--global-batch 128 instead of batch_size 64"},
      {{"--epochs", "1"}, {"--total-steps"}, "--epochs 1 instead of max_iter 10000"},
      {{"--max-steps", "7"}, {"--total-steps"}, "--max-steps 7 instead of max_iter 10000"},
      {{"--data", "mnist"},
       {"--data examples", "--test-data"},
       "--data mnist instead of source examples/mnist/mnist_train_lmdb, --data mnist instead of source "
       "examples/mnist/mnist_test_lmdb"},
      {{"--nesterov"}, {"--optimizer", "--rule-form"}, "--nesterov instead of type sgd"},
      {{"--lr-scale", "linear"}, {"--lr-scale none"}, ""},
      {{"--checkpoint", "here"},
       {"--checkpoint lenet"},
       "--checkpoint here instead of snapshot_prefix lenet_snapshots"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.users[0]);
    const std::string added = lay_under(run, row.users);
    for (const std::string& word : row.gone) {
      CAPTURE(word);
      CHECK((" " + added + " ").find(" " + word) == std::string::npos);
    }
    CHECK(join(merge_caffe_options(run, row.users).overridden, ", ") == row.reported);
  }
}

TEST_CASE("caffe options: another net leaves the solver's images, and is reported") {
  const CaffeRun run = read_caffe_run(example_file("lenet_solver.prototxt"), "", false);
  CHECK(join(merge_caffe_options(run, Words{"--net", "mlp"}).overridden, ", ") ==
        "--net mlp instead of net examples/caffe/lenet_train_test.prototxt with its images and batch_size");
  const CaffeOptions laid = merge_caffe_options(run, Words{"--lr", "1"});
  CHECK(std::find(laid.from_files.begin(), laid.from_files.end(), "--lr") == laid.from_files.end());
  CHECK(std::find(laid.from_files.begin(), laid.from_files.end(), "--momentum") != laid.from_files.end());
}

TEST_CASE("caffe options: what else its command line had is refused with our option") {
  struct Row {
    Words words;
    const char* hint;
  };
  const Row rows[] = {
      {{"train", "-solver", "s", "-gpu", "0"}, "--device cuda "},
      {{"train", "-solver", "s", "-gpu=all"}, "--device cuda "},
      {{"train", "--solver=s", "--snapshot=a.solverstate"}, "--resume DIR "},
      {{"train", "-solver", "s", "-weights", "a.caffemodel"}, "--resume FILE "},
      {{"train", "-model", "n.prototxt"}, "--net FILE.prototxt"},
      {{"--model", "n.prototxt"}, "--net FILE.prototxt"},
      {{"train", "-iterations", "9"}, "--max-steps 50"},
      {{"test", "-model", "n.prototxt"}, "ddl-train test CHECKPOINT "},
      {{"time", "-model", "n.prototxt"}, "ddl-train --solver FILE --max-steps 50 "},
      {{"device_query", "-gpu", "0"}, "nvidia-smi -L"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.hint);
    const Message reported =
        expect_error(ErrorKind::usage, "Caffe's ", [&] { translate_caffe_args(row.words); });
    CHECK(reported.hint.starts_with(row.hint));
  }
}

TEST_CASE("caffe options: --model with the name of a net is no option of Caffe's") {
  const std::vector<std::string> named{"--model", "resnet18"};
  CHECK(translate_caffe_args(named) == named);
  CHECK(translate_caffe_args(std::vector<std::string>{"--model=resnet-18"}).size() == 1);
}

TEST_CASE("caffe options: a mean image that is not there") {
  const std::string net = example_file("cifar10_quick_train_test.prototxt");
  const Message reported = expect_error(ErrorKind::request, "examples/cifar10/mean.binaryproto", [&] {
    read_caffe_command(Words{"--net", net, "--data", "d"});
  });
  CHECK(reported.where == net + ":4:1");
  CHECK(reported.hint.starts_with("--mean 120 "));
  CHECK_NOTHROW(read_caffe_command(Words{"--net", net, "--data", "d", "--mean", "120"}));
}

TEST_CASE("caffe options: the options that come out") {
  const Words words{"train", "-solver=" + example_file("lenet_solver.prototxt"), "--data", "mnist"};
  const CaffeCommand command = read_caffe_command(words);
  const TrainOptions options = parse_train_options(command.line.args);
  CHECK(options.solver == example_file("lenet_solver.prototxt"));
  CHECK(options.lr == 0.01);
  CHECK(options.total_steps == 10'000);
  CHECK(options.test_every == 500);
  CHECK(options.batch_size == 64U);
  CHECK(options.data == "mnist");
  CHECK(options.images.scale == 0.00390625F);
  CHECK(plan_batch(options, 4).lr_factor == 1.0);  // the rate is as written for any number of ranks
  const Optimizer rule = make_optimizer(options);
  CHECK(rule == command.run.solver->optimizer);
  LrSchedule schedule = make_schedule(options, 1.0);
  schedule.total_steps = 10'000;
  CHECK(schedule == command.run.solver->schedule);
}

TEST_CASE("caffe options: each kind of solver gives valid options") {
  const CaffeRun net = read_caffe_run("", prototxt_file("valid/intel_train_val.prototxt"));
  for (const char* rest :
       {"type: 'Adam'", "type: 'AdaGrad'", "type: 'RMSProp'", "type: 'AdaDelta' momentum: 0.95 delta: 1e-6",
        "type: 'Nesterov'", "local_lr_auto: true", "lr_policy: 'step' gamma: 0.1 stepsize: 7",
        "lr_policy: 'exp' gamma: 0.99", "lr_policy: 'poly' power: 0.5",
        "lr_policy: 'sigmoid' gamma: 0.01 stepsize: 5", "iter_size: 4 clip_gradients: 10"}) {
    CAPTURE(rest);
    std::string text = std::string("net: 'n' base_lr: 1e-5 max_iter: 3 ") + rest;
    if (text.find("lr_policy") == std::string::npos) text += " lr_policy: 'fixed'";
    if (text.find("momentum") == std::string::npos && text.find("Ada") == std::string::npos)
      text += " momentum: 0.9";
    CaffeReport report;
    CaffeRun run = net;
    run.solver = parse_caffe_solver(text, "s.prototxt", report);
    CHECK(list_errors(report) == "");
    const TrainOptions options = parse_train_options(merge_caffe_options(run, Words{}).args);
    const Optimizer wanted = run.solver->optimizer;
    const Optimizer rule = make_optimizer(options);
    CHECK(rule.kind == wanted.kind);
    CHECK(rule.form == OptimizerForm::caffe);
    CHECK(rule.momentum == wanted.momentum);
    LrSchedule schedule = make_schedule(options, 1.0);
    schedule.total_steps = 3;
    CHECK(schedule.decay == run.solver->schedule.decay);
    for (const std::size_t step : {0, 1, 2}) {
      CHECK(learning_rate(schedule, step) == learning_rate(run.solver->schedule, step));
    }
  }
}

TEST_CASE("caffe options: LevelDB needs --data") {
  const CaffeRun run = read_caffe_run("", prototxt_file("valid/lenet_2014_train.prototxt"));
  try {
    merge_caffe_options(run, Words{});
    FAIL("laid");
  } catch (const Error& error) {
    CHECK(error.message().what == "ddl-train cannot read the images of a layer of type Data, from LevelDB");
    CHECK(error.message().where == prototxt_file("valid/lenet_2014_train.prototxt") + ":4:1");
    CHECK(error.message().hint.starts_with("--data DIR"));
  }
}

TEST_CASE("caffe options: tests take all images") {
  const CaffeRun run = read_caffe_run(example_file("lenet_solver.prototxt"), "");
  CHECK(!check_test_size(run, 10'000));
  REQUIRE(check_test_size(run, 1'000));
  CHECK(check_test_size(run, 1'000)->what ==
        "each test takes all 1000 test images; test_iter 100 x batch_size 100 are 10000");
  CHECK(check_test_size(run, 1'000)->hint == "test_iter: 10");
  CHECK(check_test_size(run, 160)->hint == "test_iter: 2   # and batch_size: 80 in the TEST phase");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
