// SPDX-License-Identifier: MIT
// What is found wrong with a training's options before any rank starts, and that it is found by kind: words
// are wrong anywhere, files may be there on another host.
#include "runtime/app/check_options_command.hpp"

#include "runtime/app/command_line.hpp"
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

TEST_CASE("photos of one size: a size and a net are chosen as for photos of many sizes") {
  const TemporaryDirectory directory;
  const std::string picture = "P6\n96 96\n255\n" + std::string(std::size_t{3} * 96 * 96, '0');
  for (const char* name : {"train/cat/1.ppm", "train/dog/1.ppm", "val/cat/1.ppm", "val/dog/1.ppm"})
    directory.write(name, picture);
  const auto choose = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--data", directory.path});
    return read_command_line(words).options;
  };
  const TrainOptions open = choose({});
  CHECK(open.net == "cifar-quick");
  CHECK(open.images.resize == Sides{36, 36});
  CHECK(open.images.crop == Sides{32, 32});
  CHECK(open.clip == 5.0);
  CHECK(open.choice ==
        "the photos have 96x96 pixels, so: --resize 36 --crop 32 --net cifar-quick --clip 5   # larger: "
        "--net resnet-18 --resize 72 --crop 64, about 12 times the work");
  CHECK(choose({"--net", "resnet-18"}).choice ==
        "the photos have 96x96 pixels, so: --resize 72 --crop 64");  // which it takes: no larger than they
  CHECK(choose({"--net", "alexnet"}).choice ==
        "the photos have 96x96 pixels, alexnet reads 227x227, so: --resize 256 --crop 227");
  const TrainOptions corrected = choose({"--net", "resnet-50"});
  CHECK(corrected.images.resize == Sides{72, 72});
  const auto place = std::string("P6\n512 300\n255\n") + std::string(std::size_t{3} * 512 * 300, '0');
  directory.write("train/cat/2.ppm", place);
  CHECK(choose({"--net", "resnet-50"}).images.crop == Sides{224, 224});
  std::filesystem::remove(directory.path + "/train/cat/2.ppm");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--resize", "96"}, {"--resize", "36", "--crop", "32"}}) {
    const TrainOptions sized = choose(words);
    CHECK(sized.net == "cifar-quick");
    CHECK(sized.images.resize.height == std::stoi(words[1]));
    CHECK(sized.choice.starts_with("the net reads "));
  }
  CHECK(choose({"--lr", "0.01"}).clip == 0.0);         // a rate of the user's own
  CHECK(choose({"--overlap", "across"}).clip == 0.0);  // which cannot clip
  CHECK(choose({"--net", "mlp"}).choice.empty());
  CHECK_NOTHROW(check_train_args({"--data", directory.path}, 2));
}

TEST_CASE("grey images of 28x28 stay as they are, and one of another size is found among many") {
  const TemporaryDirectory directory;
  const std::string picture = "P5\n28 28\n255\n" + std::string(std::size_t{28} * 28, '0');
  for (int i = 0; i < 700; ++i)
    directory.write("train/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".pgm",
                    picture);
  directory.write("val/cat/1.pgm", picture);
  const std::vector<std::string> words{"--data", directory.path};
  CHECK(read_command_line(words).options.net == "lenet5");
  CHECK(read_command_line(words).options.choice.empty());
  directory.write("train/dog/33x.pgm", "P5\n14 20\n255\n" + std::string(std::size_t{14} * 20, '0'));
  CHECK(read_command_line(words).options.choice.starts_with("the photos have 20x14 to 28x28 pixels, so: "));
}

TEST_CASE("check-options: crop, net and classes that do not fit the images are found before ranks start") {
  const TemporaryDirectory directory;
  const std::string picture = "P6\n96 96\n255\n" + std::string(std::size_t{3} * 96 * 96, '0');
  for (const char* name : {"train/cat/1.ppm", "train/dog/1.ppm", "val/cat/1.ppm"})
    directory.write(name, picture);
  const auto refuse = [&](const char* part, std::vector<std::string> words) {
    words.insert(words.end(), {"--data", directory.path});
    return expect_error(ErrorKind::request, part, [&] { check_train_args(words, 2); });
  };
  refuse("a crop of 36x36 does not fit into images of 32x32", {"--resize", "32", "--crop", "36"});
  const Message net =
      refuse("lenet5 needs images of 1x28x28 or 1x32x32, but these are 3x96x96", {"--net", "lenet5"});
  CHECK(net.where == directory.path);
  CHECK(net.hint == "--net cifar-quick --resize 36 --crop 32");
  directory.write("train/hats/1.webp", picture);
  directory.write("train/hats/2.WEBP", picture);
  directory.write("train/hats/3.tif", picture);
  const Message unread =
      refuse("the class \"hats\" has no image that can be read, only 1 .tif and 2 .webp", {"--net", "mlp"});
  CHECK(unread.where == directory.path + "/train/hats");
  std::filesystem::remove_all(directory.path + "/train/hats");
  directory.write("val/wolf/1.ppm", picture);
  refuse("\"wolf\" is not a class of the training images", {"--net", "mlp"});
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
