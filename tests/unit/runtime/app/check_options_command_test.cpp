// SPDX-License-Identifier: MIT
// What is found wrong with a training's options before any rank starts, and that it is found by kind: words
// are wrong anywhere, files may be there on another host.
#include "runtime/app/check_options_command.hpp"

#include "runtime/app/image_choice.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/app/check_options_command");

TEST_CASE("check-options: what is wrong, and whether it is so on every host") {
  const TemporaryDirectory directory;
  const std::string& here = directory.path;
  directory.write("files/bad.yaml", "layers:\n  - {name: a, kind: nothing_like_it}\n");
  directory.write("files/bad_solver.prototxt", "base_lr: \"quick\"\n");
  struct Row {
    ErrorKind kind;
    const char* part;
    std::size_t ranks;
    std::vector<std::string> words;
  };
  const Row rows[] = {
      {ErrorKind::usage, "did you mean --epochs?", 4, {"--epochz", "3"}},
      {ErrorKind::usage, "'many' is not a whole number", 4, {"--epochs", "many"}},
      {ErrorKind::usage, "unknown value 'lenet': must be one of", 4, {"--net", "lenet"}},
      {ErrorKind::usage, "--epochs needs a value", 1, {"--epochs"}},
      {ErrorKind::usage, "--resume without a directory", 2, {"--resume"}},
      {ErrorKind::usage, "cannot be divided by 3 ranks", 3, {"--global-batch", "40"}},
      {ErrorKind::usage,
       "cannot be divided by --gradient-accumulation 3",
       2,
       {"--global-batch", "40", "--gradient-accumulation", "3"}},
      {ErrorKind::usage,
       "4 parameter server(s) of 4 rank(s) leave no worker",
       4,
       {"--parameter-servers", "4"}},
      {ErrorKind::usage,
       "needs norms of whole tensors",
       4,
       {"--parameter-servers", "1", "--optimizer", "lars"}},
      {ErrorKind::usage,
       "point to the same path",
       4,
       {"--metrics", here + "/a", "--summary-json", here + "/a"}},
      {ErrorKind::usage, "synthetic:", 4, {"--data", "synthetic:1x2"}},
      {ErrorKind::request, "does not exist", 4, {"--data", here + "/none"}},
      {ErrorKind::request, "no images found", 4, {"--data", here}},
      {ErrorKind::request, "does not exist", 4, {"--mean", here + "/none.binaryproto"}},
      {ErrorKind::request, "cannot be read", 4, {"--net", here + "/none.yaml"}},
      {ErrorKind::request, "cannot be read", 4, {"--solver", here + "/none.prototxt"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words.back());
    expect_error(row.kind, row.part, [&] { check_train_args(row.words, row.ranks); });
  }
  for (const char* file : {"/files/bad.yaml", "/files/bad_solver.prototxt"}) {
    CAPTURE(file);
    const std::string option = std::string(file).ends_with(".yaml") ? "--net" : "--solver";
    CHECK_THROWS_AS(check_train_args({option, here + file}, 1), Error);
  }
}

TEST_CASE("check-options: a step has no more images than the directory of classes") {
  const TemporaryDirectory directory;
  const std::string picture = "P5\n8 8\n255\n" + std::string(64, '0');
  for (const char* place : {"train/cat/", "train/dog/", "val/cat/", "val/dog/"})
    for (const char* name : {"1", "2", "3", "4"})
      directory.write(std::string(place) + name + ".pgm", picture);
  for (const std::string& data : {directory.path, directory.path + "/", directory.path + "/train"}) {
    CAPTURE(data);
    expect_error(ErrorKind::request, "a global batch of 16 exceeds the 8 training images", [&] {
      check_train_args({"--data", data, "--global-batch", "16"}, 4);
    });
    expect_error(ErrorKind::request, "a global batch of 12 exceeds the 8 training images", [&] {
      check_train_args({"--data", data, "--batch-size", "3"}, 4);
    });
    CHECK_NOTHROW(check_train_args({"--data", data, "--global-batch", "8"}, 4));
    CHECK_NOTHROW(check_train_args({"--data", data}, 4));  // chooses a batch that fits
  }
}

TEST_CASE("photos of two sizes: the directory of the training images chooses as the one above it") {
  const TemporaryDirectory directory;
  directory.write("train/cat/1.pgm", "P5\n8 8\n255\n" + std::string(64, '0'));
  directory.write("train/dog/1.pgm", "P5\n8 9\n255\n" + std::string(72, '0'));
  directory.write("val/cat/1.pgm", "P5\n8 8\n255\n" + std::string(64, '0'));
  for (const char* place : {"", "/", "/train", "/train/"}) {
    CAPTURE(place);
    TrainOptions options;
    options.data = directory.path + place;
    choose_image_options(options);
    CHECK(options.choice.starts_with("the photos have 8x8 to 9x8 pixels, so: --resize 36 --crop 32"));
  }
}

TEST_CASE("check-options: what could start is not refused, and nothing is made") {
  const TemporaryDirectory directory;
  const std::string& here = directory.path;
  const std::vector<std::string> rows[] = {
      {},
      {"--help"},
      {"--print-net", "lenet5"},
      {"--data", "synthetic:3x32000x32000x10:1000000"},  // is not drawn
      {"--data", here + "/{host}", "--data-sharding", "host"},
      {"--epochs", "3", "--metrics", here + "/m.jsonl", "--summary-json", here + "/r.json"},
      {"--checkpoint", here + "/saved", "--resume"},
      {"--global-batch", "40", "--parameter-servers", "2"},
      {"--device", "cuda"},
  };
  for (const auto& words : rows) {
    CAPTURE(words.empty() ? "" : words.front());
    CHECK_NOTHROW(check_train_args(words, 4));
  }
  CHECK(std::filesystem::is_empty(here));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
