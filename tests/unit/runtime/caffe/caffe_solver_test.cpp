// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_solver.hpp"

#include "tests/unit/runtime/caffe/caffe_support.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <filesystem>

namespace ddlrun::runtime {
namespace {

CaffeSolver parse_good_solver(const std::string& text) {
  CaffeReport report;
  CaffeSolver solver = parse_caffe_solver(text, "solver.prototxt", report);
  CHECK(list_errors(report) == "");
  return solver;
}

std::string find_solver_errors(const std::string& text) {
  CaffeReport report;
  try {
    parse_caffe_solver(text, "solver.prototxt", report);
  } catch (const Error& error) {
    return error.message().where + " " + error.message().what + "\n";
  }
  return list_errors(report);
}

const std::string shortest = "net: \"n\" base_lr: 0.01 lr_policy: \"fixed\" max_iter: 10\n";

}  // namespace
TEST_SUITE_BEGIN("runtime/caffe/caffe_solver");

// namespace

TEST_CASE("caffe solver: Caffe's LeNet") {
  const CaffeRun run = read_caffe_run(example_file("lenet_solver.prototxt"), "");
  REQUIRE(run.solver);
  const CaffeSolver& solver = *run.solver;
  CHECK(solver.net == "examples/caffe/lenet_train_test.prototxt");
  CHECK(solver.schedule.peak == 0.01);  // not 0.00999999977648, which is what a float holds
  CHECK(solver.schedule.decay == LrDecay::inv);
  CHECK(solver.schedule.gamma == 0.0001);
  CHECK(solver.schedule.power == 0.75);
  CHECK(solver.schedule.total_steps == 10'000);
  CHECK(solver.optimizer.kind == OptimizerKind::sgd);
  CHECK(solver.optimizer.form == OptimizerForm::caffe);
  CHECK(solver.optimizer.momentum == 0.9);
  CHECK(solver.optimizer.weight_decay == 0.0005);
  CHECK(solver.max_iter == 10'000);
  CHECK(solver.test_iter == 100);
  CHECK(solver.test_interval == 500);
  CHECK(solver.snapshot == 5'000);
  CHECK(!solver.wants_gpu);
  CHECK(!solver.random_seed);
  // Caffe's published rates of this solver: base_lr * (1 + gamma * iter) ^ (-power)
  CHECK(learning_rate(solver.schedule, 500) == doctest::Approx(0.00964069));
  CHECK(learning_rate(solver.schedule, 9'900) == doctest::Approx(0.00596843));
  REQUIRE(run.net);
  CHECK(run.net->net.name == "LeNet");
}

TEST_CASE("caffe solver: a net in its place, and a solver in place of a net") {
  const std::string net = example_file("lenet_train_test.prototxt");
  const std::string solver = example_file("lenet_solver.prototxt");
  const Message net_refusal =
      expect_error(ErrorKind::request, "this is a net, not a solver: it has 11 layer(s)",
                   [&] { read_caffe_run(net, ""); });
  CHECK(net_refusal.hint.starts_with("ddl-train --net " + net));
  const Message solver_refusal =
      expect_error(ErrorKind::request, "this is a solver, not a net", [&] { read_caffe_run("", solver); });
  CHECK(solver_refusal.hint == "ddl-train --solver " + solver);
}

TEST_CASE("caffe solver: no remedy writes into a file") {
  CaffeReport report;
  parse_caffe_solver(shortest + "zzzzzzzzzz: 3\n", "solver.prototxt", report);
  REQUIRE(report.errors.size() == 1);
  CHECK(report.errors.front().hint == "sed -n 2p solver.prototxt   # and remove that field");
}

TEST_CASE("caffe solver: momentum is reported where the rule has none") {
  CaffeReport report;
  parse_caffe_solver(shortest + "type: 'RMSProp' momentum: 0.9\n", "s", report);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes.front().what == "momentum 0.9 is ignored: rmsprop does not use it");
  CaffeReport other;
  parse_caffe_solver(shortest + "type: 'Nesterov' momentum: 0.9\n", "s", other);
  CHECK(other.notes.empty());
}

TEST_CASE("caffe solver: every field arrives") {
  const CaffeRun run = read_caffe_run(prototxt_file("valid/all_solver.prototxt"), "");
  const CaffeSolver& solver = *run.solver;
  CHECK(solver.net == "lenet_2014_train.prototxt");
  CHECK(solver.schedule.decay == LrDecay::multistep);
  CHECK(solver.schedule.step_values == std::vector<std::size_t>{32'000, 48'000});
  CHECK(solver.schedule.warmup_steps == 400);
  CHECK(solver.iter_size == 2);
  CHECK(solver.optimizer.kind == OptimizerKind::nesterov);
  CHECK(solver.optimizer.l1);
  CHECK(solver.optimizer.clip == 35.0);
  CHECK(solver.optimizer.weight_decay == 1e-4);
  CHECK(solver.random_seed == 7U);
  CHECK(solver.snapshot_prefix == "folder/snap");
  CHECK(solver.wants_gpu);
  REQUIRE(run.net);
  CHECK(!run.net->test_data);  // train_net alone
  REQUIRE(run.notes.size() > 1);
  CHECK(run.notes[0].what.starts_with("solver_mode GPU is ignored"));
  CHECK(run.notes[1].what ==
        "ignored: average_loss, debug_info, device_id, display, layer_wise_reduce, snapshot_after_train, "
        "snapshot_format, test_initialization; results do not depend on it");
}

TEST_CASE("caffe solver: policies and rules by Caffe's names") {
  struct Row {
    const char* words;
    LrDecay decay;
  };
  const Row rows[] = {
      {"lr_policy: 'fixed'", LrDecay::none},
      {"lr_policy: 'step' gamma: 0.1 stepsize: 5", LrDecay::step},
      {"lr_policy: 'exp' gamma: 0.9", LrDecay::exp},
      {"lr_policy: 'inv' gamma: 0.1 power: 0.75", LrDecay::inv},
      {"lr_policy: 'multistep' gamma: 0.1 stepvalue: [3, 5]", LrDecay::multistep},
      {"lr_policy: 'poly' power: 1", LrDecay::poly},
      {"lr_policy: 'sigmoid' gamma: -0.001 stepsize: 5", LrDecay::sigmoid},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    const CaffeSolver solver = parse_good_solver(std::string("net: 'n' base_lr: 1 max_iter: 9 ") + row.words);
    CHECK(solver.schedule.decay == row.decay);
  }
  struct Type {
    const char* words;
    OptimizerKind kind;
  };
  const Type types[] = {
      {"", OptimizerKind::sgd},
      {"type: 'SGD'", OptimizerKind::sgd},
      {"type: 'Nesterov'", OptimizerKind::nesterov},
      {"type: 'Adam' momentum2: 0.99 delta: 1e-7", OptimizerKind::adam},
      {"type: 'AdaGrad'", OptimizerKind::adagrad},
      {"type: 'RMSProp' rms_decay: 0.98", OptimizerKind::rmsprop},
      {"type: 'AdaDelta' delta: 1e-6", OptimizerKind::adadelta},
      {"solver_type: ADAM", OptimizerKind::adam},
      {"solver_type: NESTEROV", OptimizerKind::nesterov},
      {"local_lr_auto: true local_gw_ratio: 0.002", OptimizerKind::lars},
  };
  for (const Type& type : types) {
    CAPTURE(type.words);
    CHECK(parse_good_solver(shortest + type.words).optimizer.kind == type.kind);
  }
  CHECK(parse_good_solver(shortest + "type: 'Adam' momentum2: 0.99 delta: 1e-7").optimizer.epsilon == 1e-7);
  CHECK(parse_good_solver(shortest + "local_lr_auto: true local_gw_ratio: 0.002").optimizer.trust == 0.002);
  CHECK(parse_good_solver(shortest).optimizer.momentum == 0.0);  // Caffe's default
  CHECK(parse_good_solver(shortest).optimizer.momentum2 == 0.999);
  CHECK(parse_good_solver(shortest).wants_gpu);
}

TEST_CASE("caffe solver: refusals") {
  struct Row {
    std::string text;
    const char* reported;
  };
  const Row rows[] = {
      {"base_lr: 0.01 lr_policy: 'fixed' max_iter: 1", "solver.prototxt the solver names 0 training nets"},
      {shortest + "train_net: 'm'", "solver.prototxt:2:1 the solver names 2 training nets"},
      {"net: 'n' lr_policy: 'fixed' max_iter: 1", "the solver has no base_lr"},
      {"net: 'n' base_lr: 1 max_iter: 1", "the solver has no lr_policy"},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'plateau'",
       "solver.prototxt:1:33 lr_policy is 'plateau'; it must be one of fixed, step, "},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'step'", "lr_policy step needs gamma, which is not given"},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'step'", "lr_policy step needs stepsize"},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'multistep' gamma: 1",
       "lr_policy multistep needs stepvalue"},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'step' gamma: 1 stepsize: 0",
       "stepsize is 0; it must be at least 1"},
      {"net: 'n' base_lr: 1 max_iter: 1 lr_policy: 'multistep' gamma: 1 stepvalue: 5 stepvalue: 4",
       "solver.prototxt:1:78 stepvalue 4 follows 5; stepvalues must ascend"},
      {"net: 'n' base_lr: -1 max_iter: 1 lr_policy: 'fixed'",
       "solver.prototxt:1:10 base_lr is -1; it must be 0 to 1e+30"},
      {"net: 'n' base_lr: inf max_iter: 1 lr_policy: 'fixed'", "base_lr is inf"},
      {"net: 'n' base_lr: nan max_iter: 1 lr_policy: 'fixed'", "base_lr is nan"},
      {"net: 'n' base_lr: 1 max_iter: 0 lr_policy: 'fixed'", "max_iter is 0; it must be at least 1"},
      {"net: 'n' base_lr: 1 lr_policy: 'fixed'", "max_iter is 0; it must be at least 1"},
      {shortest + "iter_size: 0", "iter_size is 0; it must be at least 1"},
      {shortest + "momentum: 1.5", "momentum is 1.5; it must be 0 to 1"},
      {shortest + "type: 'Adamax'",
       "solver.prototxt:2:1 type is 'Adamax'; it must be one of SGD, Nesterov, Adam, "},
      {shortest + "type: 'sgd'", "type is 'sgd'; it must be one of SGD, Nesterov"},
      {shortest + "type: 'SGD' solver_type: SGD", "both type and the older solver_type are set"},
      {shortest + "regularization_type: 'L3'", "regularization_type is 'L3'; it must be L1 or L2"},
      {shortest + "clip_gradients: 0", "clip_gradients is 0"},
      {shortest + "weights: 'a.caffemodel'",
       "solver.prototxt:2:1 weights is a field of Caffe that ddl-train does not support"},
      {shortest + "eval_type: 'detection'",
       "eval_type is \"detection\"; ddl-train supports only Caffe's default"},
      {shortest + "warmup_iter: 5 warmup_start_lr: 0.1", "warmup_start_lr is 0.1; ddl-train warms up from 0"},
      {shortest + "test_interval: 5", "test_interval is given without test_iter"},
      {shortest + "test_iter: 0 test_interval: 5", "test_iter is 0; it must be at least 1"},
      {shortest + "local_lr_auto: true type: 'Adam'", "local_lr_auto needs type SGD"},
      {shortest + "base_learning_rate: 1",
       "solver.prototxt:2:1 unknown field 'base_learning_rate' in a SolverParameter"},
      {shortest + "momentun: 0.9", "unknown field 'momentun' in a SolverParameter; did you mean momentum?"},
      {shortest + "max_iter: 5", "solver.prototxt:2:"},
      {"base_lr: fast", "solver.prototxt:1:10 "},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string errors = find_solver_errors(row.text);
    CHECK_MESSAGE(errors.find(row.reported) != std::string::npos, errors);
  }
}

TEST_CASE("caffe solver: nets written in it, and states") {
  const std::string net =
      "{ layer { name: 'i' type: 'Input' top: 'data' top: 'label' }\n"
      "layer { name: 'a' type: 'ReLU' bottom: 'data' top: 'data' include { stage: 'deep' } }\n"
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' inner_product_param { num_output: 2 "
      "} }\n"
      "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' } }\n";
  const auto layers = [&](const std::string& more) {
    const std::string text = "net_param " + net + "base_lr: 1 lr_policy: 'fixed' max_iter: 1 " + more;
    CaffeReport report;
    parse_caffe_solver(text, "s.prototxt", report);
    const CaffeNet parsed = parse_caffe_net_of_solver({text, "s.prototxt"}, nullptr, nullptr, report);
    return std::to_string(parsed.net.layers.size()) + " " + list_errors(report);
  };
  CHECK(layers("train_state { stage: 'deep' } test_state { stage: 'deep' }") == "2 ");
  CHECK(layers("") == "1 ");
  CHECK(layers("train_state { stage: 'deep' }") ==
        "2 s.prototxt:3:1 the phases compute different nets: TRAIN has 'a relu of data' where TEST has 'ip "
        "inner_product of data outputs 2 bias true'\n");
}

TEST_CASE("caffe solver: where its net is looked for") {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  fs::current_path("/");
  // Beside the solver, by its path and by its name alone.
  CHECK(read_caffe_run(prototxt_file("valid/all_solver.prototxt"), "").net->net.location ==
        prototxt_file("valid/lenet_2014_train.prototxt"));
  CHECK(read_caffe_run(example_file("lenet_solver.prototxt"), "").net->net.location ==
        example_file("lenet_train_test.prototxt"));
  // The working directory first.
  fs::current_path(std::string(DDLRUN_TEST_DATA) + "/../..");
  const CaffeRun run = read_caffe_run("examples/caffe/lenet_solver.prototxt", "");
  fs::current_path(before);
  CHECK(run.net->net.location == "examples/caffe/lenet_train_test.prototxt");
  CHECK(read_caffe_run(example_file("lenet_solver.prototxt"), prototxt_file("valid/deploy.prototxt"))
            .net->net.name == "small");
  try {
    read_caffe_run("/no/such/solver.prototxt", "");
    FAIL("read");
  } catch (const Error& error) {
    CHECK(error.message().hint.find("--solver") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
