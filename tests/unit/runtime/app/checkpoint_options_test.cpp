// SPDX-License-Identifier: MIT
// How saving is requested, and the record that is kept of it.
#include "runtime/app/train_options.hpp"
#include "runtime/checkpoint/checkpoint.hpp"
#include "runtime/telemetry/metrics.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace ddlrun::runtime {
namespace {

TrainOptions parse_words(const std::vector<std::string>& words) { return parse_train_options(words); }

}  // namespace
TEST_SUITE_BEGIN("runtime/app/checkpoint_options");

// namespace

TEST_CASE("checkpoint options: --resume may stand alone") {
  struct Row {
    std::vector<std::string> words;
    const char* from;
  };
  const Row rows[] = {
      {{"--checkpoint", "c", "--resume"}, "c"},
      {{"--resume", "--checkpoint", "c"}, "c"},
      {{"--resume", "--checkpoint", "c", "--quiet"}, "c"},
      {{"--checkpoint=c", "--resume="}, "c"},
      {{"--checkpoint", "c", "--resume", "d"}, "d"},
      {{"--resume=d/ckpt-000001.safetensors"}, "d/ckpt-000001.safetensors"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.from);
    const TrainOptions options = parse_words(row.words);
    CHECK(options.resume);
    CHECK(options.resume_from == row.from);
  }
  CHECK(!parse_words({"--checkpoint", "c"}).resume);
}

TEST_CASE("checkpoint options: when, how many, and conflicts") {
  CHECK(parse_words({"--checkpoint", "c"}).checkpoint_steps == 0);
  CHECK(parse_words({"--checkpoint", "c", "--checkpoint-every", "epoch"}).checkpoint_steps == 0);
  CHECK(parse_words({"--checkpoint", "c", "--checkpoint-every", "50", "--keep-checkpoints", "3"})
            .checkpoint_steps == 50);
  struct Row {
    const char* part;
    std::vector<std::string> words;
  };
  const Row rows[] = {
      {"--resume without a directory needs --checkpoint", {"--resume"}},
      {"need --checkpoint", {"--checkpoint-every", "5"}},
      {"need --checkpoint", {"--keep-checkpoints", "5"}},
      {"the directory is empty", {"--checkpoint="}},
      {"'1' is not a whole number from 2", {"--checkpoint", "c", "--keep-checkpoints", "1"}},
      {"'0' is not a whole number from 1", {"--checkpoint", "c", "--checkpoint-every", "0"}},
      {"'epochs' is not a whole number", {"--checkpoint", "c", "--checkpoint-every", "epochs"}},
  };
  for (const Row& row : rows) expect_error(ErrorKind::usage, row.part, [&] { parse_words(row.words); });
}

TEST_CASE("checkpoint options: how to go on after a stop") {
  CHECK(resume_command(parse_words({"--checkpoint", "c"})) == "the same command with --resume");
  CHECK(resume_command(parse_words({"--checkpoint", "c", "--resume"})) == "the same command");
  CHECK(resume_command(parse_words({"--checkpoint", "my c", "--resume", "c/ckpt-000003.safetensors"})) ==
        "the same command with --resume 'my c'");
}

TEST_CASE("checkpoint options: what is proposed for another run's checkpoint would be accepted") {
  Net net;
  net.name = "toy";
  TrainPlan then;
  then.global_batch = 48;
  then.epochs = 3;
  then.steps_per_epoch = 4;
  then.schedule.peak = 0.06;
  then.schedule.total_steps = 12;
  const RunIdentity identity{"test 1", 1, 200, 2, 3, ""};
  TrainPosition position;
  position.step = 6;
  const Metadata saved = render_run(net, then, identity, position);
  struct Row {
    int ranks;
    int servers;
    std::size_t global_batch;
    std::size_t accumulate;
    std::size_t epochs;
    std::size_t max_steps;
    const char* hint;
  };
  const char* const apart = "   # without --batch-size and --lr-scale";
  const Row batches[] = {
      {4, 0, 64, 1, 3, 0, "--global-batch 48 --lr 0.06"},
      {5, 0, 80, 1, 3, 0, "mpirun -n 4 ddl-train --global-batch 48 --lr 0.06"},
      {6, 1, 80, 1, 3, 0, "mpirun -n 5 ddl-train --global-batch 48 --lr 0.06"},
      {4, 0, 80, 5, 3, 0, "--global-batch 48 --lr 0.06 --gradient-accumulation 1"},
      {5, 0, 80, 8, 3, 0, "mpirun -n 4 ddl-train --global-batch 48 --lr 0.06 --gradient-accumulation 1"},
  };
  const Row ends[] = {
      {3, 0, 48, 1, 1, 0, "--epochs 3   # 1 more"},
      {3, 0, 48, 1, 3, 5, "--max-steps 11   # 5 more; or --total-steps 11, whichever was given"},
      {3, 0, 48, 1, 1, 3, "--total-steps 9   # 3 more, without --max-steps and --epochs"},
  };
  const auto hint_for = [&](const Row& row) {
    TrainPlan plan = then;
    plan.global_batch = row.global_batch;
    plan.accumulate = row.accumulate;
    plan.epochs = row.epochs;
    plan.max_steps = row.max_steps;
    plan.schedule.total_steps = total_steps(plan, identity.images);
    RunIdentity self = identity;
    self.ranks = row.ranks;
    self.servers = row.servers;
    return expect_error(ErrorKind::request, "the checkpoint",
                        [&] { check_same_run(saved, net, plan, self, "f"); })
        .hint;
  };
  for (const Row& row : batches) CHECK(hint_for(row) == std::string(row.hint) + apart);
  for (const Row& row : ends) CHECK(hint_for(row) == row.hint);
}

TEST_CASE("checkpoint options: the record") {
  CheckpointRecord record{"c/ckpt-000812.safetensors", 812, 4, 496592, 0.0123456, SaveReason::stop, "", ""};
  auto json = nlohmann::json::parse(render_checkpoint_record(record));
  CHECK(json.at("type") == "checkpoint");
  CHECK(json.at("step") == 812);
  CHECK(json.at("file") == "c/ckpt-000812.safetensors");
  CHECK(json.at("bytes") == 496592);
  CHECK(json.at("reason") == "stop");
  CHECK(json.at("problem").is_null());
  record.problem = "c: No space left on device";
  json = nlohmann::json::parse(render_checkpoint_record(record));
  CHECK(json.at("problem") == record.problem);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
