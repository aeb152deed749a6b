// SPDX-License-Identifier: MIT
// How saving is asked for, and the record that is kept of it.
#include "runtime/seeing/metrics.hpp"
#include "runtime/train_options.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace ddlrun::runtime {
namespace {

TrainOptions parse_words(const std::vector<std::string>& words) { return parse_train_options(words); }

}  // namespace

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

TEST_CASE("checkpoint options: when, how many, and what does not go together") {
  CHECK(parse_words({"--checkpoint", "c"}).checkpoint_steps == 0);
  CHECK(parse_words({"--checkpoint", "c", "--checkpoint-every", "epoch"}).checkpoint_steps == 0);
  CHECK(parse_words({"--checkpoint", "c", "--checkpoint-every", "50", "--keep", "3"}).checkpoint_steps == 50);
  struct Row {
    const char* part;
    std::vector<std::string> words;
  };
  const Row rows[] = {
      {"that of --checkpoint, which is not given", {"--resume"}},
      {"need --checkpoint", {"--checkpoint-every", "5"}},
      {"need --checkpoint", {"--keep", "5"}},
      {"the directory is empty", {"--checkpoint="}},
      {"'1' is not a whole number from 2", {"--checkpoint", "c", "--keep", "1"}},
      {"'0' is not a whole number from 1", {"--checkpoint", "c", "--checkpoint-every", "0"}},
      {"'epochs' is not a whole number", {"--checkpoint", "c", "--checkpoint-every", "epochs"}},
  };
  for (const Row& row : rows) expect_error(ErrorKind::usage, row.part, [&] { parse_words(row.words); });
}

TEST_CASE("checkpoint options: the record") {
  CheckpointRecord record{"c/ckpt-000812.safetensors", 812, 4, 496592, 0.0123456, SaveReason::stop, ""};
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

}  // namespace ddlrun::runtime
