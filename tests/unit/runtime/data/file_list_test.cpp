// SPDX-License-Identifier: MIT
// What lies at a path: CIFAR's files, lists, directories of classes; and sets that lie in parts.
#include "runtime/data/file_list.hpp"

#include "runtime/app/data_options.hpp"
#include "runtime/comm/thread_communicator.hpp"
#include "runtime/data/cifar.hpp"
#include "runtime/data/class_findings.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/host_subsets.hpp"
#include "runtime/data/open_images.hpp"
#include "tests/support/mutate.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <mutex>

namespace ddlrun::runtime {
namespace {

Bytes cifar_records(std::size_t labels, const std::vector<std::uint8_t>& classes) {
  Bytes file;
  for (const std::uint8_t one : classes) {
    if (labels == 2) file.push_back(99);
    file.push_back(one);
    for (int i = 0; i < 3072; ++i) file.push_back(static_cast<std::uint8_t>(i + one));
  }
  return file;
}

void write_idx_set(const TemporaryDirectory& directory, const std::string& name, std::uint8_t first,
                   std::uint8_t count) {
  Bytes images{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 1, 0, 0, 0, 1};
  Bytes labels{0, 0, 8, 1, 0, 0, 0, count};
  for (std::uint8_t i = 0; i < count; ++i) {
    images.push_back(static_cast<std::uint8_t>(first + i));
    labels.push_back(i % 2);
  }
  for (const char* part : {"train", "t10k"}) {
    directory.write(name + "/" + part + "-images-idx3-ubyte", images);
    directory.write(name + "/" + part + "-labels-idx1-ubyte", labels);
  }
}

}  // namespace
TEST_SUITE_BEGIN("runtime/data/file_list");

// namespace

TEST_CASE("cifar: ten and a hundred classes") {
  const TemporaryDirectory directory;
  directory.write("ten/cifar-10-batches-bin/data_batch_1.bin", cifar_records(1, {3, 9}));
  directory.write("ten/cifar-10-batches-bin/data_batch_3.bin", cifar_records(1, {5}));
  directory.write("ten/cifar-10-batches-bin/test_batch.bin", cifar_records(1, {7}));
  const Dataset ten = load_dataset(directory.path + "/ten");
  CHECK(ten.kind == "CIFAR-10's binary files");
  CHECK(ten.train_images->count() == 3);
  CHECK(ten.train_images->label(2) == 5);
  CHECK(ten.test_images->label(0) == 7);
  CHECK(ten.input() == Shape{3, 32, 32});
  CHECK(std::to_integer<int>(ten.train_images->view(1)[2]) == 11);
  CHECK(ten.transform.mean.size() == 3);
  directory.write("hundred/train.bin", cifar_records(2, {42, 0}));
  directory.write("hundred/test.bin", cifar_records(2, {1}));
  const Dataset hundred = load_dataset(directory.path + "/hundred");
  CHECK(hundred.classes == 43);
  CHECK(hundred.train_images->label(0) == 42);
}

TEST_CASE("cifar: refusals, for whatever bytes") {
  ImageSet set;
  expect_error(ErrorKind::request, "must hold records of 3073 bytes; this one has 3072 = 0 x 3073 + 3072",
               [&] { append_cifar(Bytes(3072), CifarKind::ten, "data_batch_1.bin", set); });
  expect_error(ErrorKind::request, "record 1 has the label 10; the largest of CIFAR-10 is 9", [&] {
    append_cifar(cifar_records(1, {3, 10}), CifarKind::ten, "f", set);
  });
  const Bytes good = cifar_records(1, {1, 2});
  for (std::uint64_t i = 0; i < tests::mutation_rounds(300); ++i) {
    const std::string bytes = tests::mutate(std::string(good.begin(), good.end()), i);
    ImageSet some;
    try {
      append_cifar(Bytes(bytes.begin(), bytes.end()), i % 2 == 0 ? CifarKind::ten : CifarKind::hundred, "f",
                   some);
      CHECK(some.pixels.size() == some.labels.size() * 3072);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("lists: names with blanks, all wrong lines at once") {
  const FileList list = parse_file_list("a b/c.jpg 3\r\n\n/abs/d.png\t65535\n", "l.txt", "root");
  REQUIRE(list.count() == 2);
  CHECK(list.path(0) == "root/a b/c.jpg");
  CHECK(list.path(1) == "/abs/d.png");
  CHECK(list.label(1) == 65535);
  const Message message = expect_error(ErrorKind::request, "\"x.jpg\" does not end with", [] {
    parse_file_list("ok.jpg 1\nx.jpg\ny.jpg 65536\nz.jpg -1\n", "l.txt", "");
  });
  CHECK(message.what.find("z.jpg") != std::string::npos);
  expect_error(ErrorKind::request, "names no images", [] { parse_file_list("\n \n", "l.txt", ""); });
}

TEST_CASE("class directories: a directory for each class, and lists, give the same images") {
  const TemporaryDirectory directory;
  const Bytes grey = write_png(make_image(1, 4, 5));
  const Bytes colour = write_png(make_image(3, 4, 5));
  directory.write("set/train/cat/1.png", colour);
  directory.write("set/train/cat/2.PNG", grey);
  directory.write("set/train/ant/b.png", colour);
  directory.write("set/train/ant/notes.txt", std::string("no image"));
  directory.write("set/val/cat/x.png", grey);
  const Dataset data = load_dataset(directory.path + "/set");
  CHECK(data.kind == "a directory for each class");
  CHECK(data.classes == 2);
  REQUIRE(data.train_images->count() == 3);
  CHECK(data.input() == Shape{3, 4, 5});
  CHECK(data.train_images->label(0) == 0);  // ant comes before cat
  CHECK(data.test_images->label(0) == 1);   // by the training images' names
  directory.write("lists/train.txt", std::string("ant/b.png 0\ncat/1.png 1\ncat/2.PNG 1\n"));
  directory.write("lists/val.txt", std::string("../val/cat/x.png 1\n"));
  DataRequest request;
  request.train = directory.path + "/lists";
  request.root = directory.path + "/set/train";
  CHECK(fingerprint(load_dataset(request)) == fingerprint(data));
  request.memory = 0;
  const Dataset streamed = load_dataset(request);
  CHECK_FALSE(streamed.train_images->in_memory());
  Bytes one(60);
  streamed.train_images->read(1, std::as_writable_bytes(std::span(one)));
  const auto kept = data.train_images->view(1);
  CHECK(std::equal(kept.begin(), kept.end(), std::as_bytes(std::span(one)).begin()));
  CHECK(streamed.transform.mean == data.transform.mean);
}

TEST_CASE("class directories: refusals say what is there") {
  const TemporaryDirectory directory;
  directory.write("set/train/cat/1.png", write_png(make_image(1, 4, 5)));
  directory.write("set/train/dog/1.png", write_png(make_image(1, 8, 5)));
  const std::string set = directory.path + "/set";
  const Message missing =
      expect_error(ErrorKind::request, "there is no directory of test images: " + set + " has neither",
                   [&] { load_dataset(set); });
  CHECK(missing.hint.starts_with("--val-fraction 0.2 "));
  expect_error(ErrorKind::request, "these are taken for training images of 2 classes (cat, dog)",
               [&] { load_dataset(set + "/train"); });
  directory.write("set/Val/cow/1.png", write_png(make_image(1, 4, 5)));
  const Message near = expect_error(ErrorKind::request, "did you mean Val?", [&] { load_dataset(set); });
  CHECK(near.hint == "--test-data " + set + "/Val");
  directory.write("set/val/cow/1.png", write_png(make_image(1, 4, 5)));
  const Message other = expect_error(ErrorKind::request, "this image is 8x5, but the first one is 4x5",
                                     [&] { load_dataset(set); });
  CHECK(other.where.ends_with("/train/dog/1.png"));
  DataRequest request;
  request.train = set;
  request.resize = {4, 4};
  const Message foreign = expect_error(
      ErrorKind::request, "\"cow\" is not a class of the training images, which have 2: cat, dog",
      [&] { load_dataset(request); });
  CHECK(foreign.where == set + "/val/cow");
  CHECK(foreign.hint == "mkdir " + set + "/train/cow   # for training images of this class; or move " + set +
                            "/val/cow away");
  request.test = set + "/train";
  request.crop = {5, 5};
  expect_error(ErrorKind::request, "a crop of 5x5 does not fit into images of 4x4",
               [&] { load_dataset(request); });
  expect_error(ErrorKind::request, "does not exist", [&] { load_dataset(directory.path + "/nothing"); });
  directory.write("odd/readme", std::string("text"));
  expect_error(ErrorKind::request, "no images found here, only readme",
               [&] { load_dataset(directory.path + "/odd"); });
  expect_error(ErrorKind::request, "this file is neither an LMDB nor a list",
               [&] { load_dataset(directory.path + "/odd/readme"); });
  directory.write("hollow/train/a/1.png", write_png(make_image(1, 4, 5)));
  directory.write("hollow/train/b/1.png", write_png(make_image(1, 4, 5)));
  std::filesystem::create_directories(directory.path + "/hollow/train/c");
  directory.write("hollow/val/notes.txt", std::string("no image"));
  const std::string hollow = directory.path + "/hollow";
  const Message nothing = expect_error(ErrorKind::request, "no images found: there are no class directories",
                                       [&] { load_dataset(hollow); });
  CHECK(nothing.where == hollow + "/val");
  directory.write("hollow/val/c/notes.txt", std::string("no image"));
  expect_error(ErrorKind::request, "none of the 1 class directories has any", [&] { load_dataset(hollow); });
  directory.write("hollow/val/c/1.png", write_png(make_image(1, 4, 5)));
  const Message empty =
      expect_error(ErrorKind::request, "the class \"c\" has test images in ", [&] { load_dataset(hollow); });
  CHECK(empty.where == hollow + "/train/c");
  directory.write("broken/train/a/1.png", std::string("\x89PNG\r\n\x1a\n"));
  const Message broken = expect_error(ErrorKind::request, "the PNG is damaged", [&] {
    DataRequest both;
    both.train = both.test = directory.path + "/broken/train";
    load_dataset(both);
  });
  CHECK(broken.where.ends_with("/a/1.png"));
}

TEST_CASE("parts: hosts with images of their own make one set") {
  const TemporaryDirectory directory;
  write_idx_set(directory, "rank-0", 10, 9);
  write_idx_set(directory, "rank-1", 100, 6);
  write_idx_set(directory, "rank-2", 200, 6);
  std::mutex mutex;
  std::vector<Dataset> all(3);
  run_ranks_as_threads(3, [&](Communicator& ranks) {
    DataRequest request;
    request.train = directory.path + "/rank-{rank}";
    request.sharding = ShardBy::rank;
    OpenedImages opened = open_images(request, ranks);
    const std::lock_guard lock(mutex);
    all[static_cast<std::size_t>(ranks.rank())] = std::move(opened.data);
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(all[rank].subsets);
    CHECK(all[rank].subsets->subset == rank);
    CHECK(all[rank].transform.mean == all[0].transform.mean);
    CHECK(fingerprint(all[rank]) == fingerprint(all[0]));
    // 9 images of 10..18, 6 of 100..105, 6 of 200..205
    CHECK(all[rank].transform.mean.at(0) == doctest::Approx((9 * 14.0 + 6 * 102.5 + 6 * 202.5) / 21));
    DataShard shard = make_shard(all[rank], 9, 1, rank, 3);
    CHECK(shard.steps_per_epoch() == 2);
    CHECK(shard.dropped_images() == 3);
  }
  CHECK(render_subsets(all[0]) ==
        "images: rank 0 9 + 9 for 1 rank(s); rank 1 6 + 6 for 1 rank(s); rank 2 6 + 6 for 1 rank(s)");
}

TEST_CASE("parts: ranks of a host must agree, and parts must look alike") {
  const TemporaryDirectory directory;
  write_idx_set(directory, "rank-0", 10, 9);
  write_idx_set(directory, "rank-1", 11, 9);
  const auto open = [&](ShardBy split) {
    run_ranks_as_threads(2, [&](Communicator& ranks) {
      DataRequest request;
      request.train = directory.path + "/rank-{rank}";
      request.sharding = split;
      open_images(request, ranks);
    });
  };
  open(ShardBy::rank);
  expect_error(ErrorKind::request, "its images differ from those of the first rank with this subset",
               [&] { open(ShardBy::host); });
  expect_error(ErrorKind::request, "the images of the ranks differ", [&] { open(ShardBy::none); });
  CHECK(expand_placeholders("/d/{host}/{rank}/{host}", "h{rank}", 3) == "/d/h3/3/h3");
}

TEST_CASE("parts: one may lack classes that others have") {
  const TemporaryDirectory directory;
  for (const int rank : {0, 1}) {
    const std::string part = fmt::format("part-{}", rank);
    const std::vector<std::uint8_t> labels =
        rank == 0 ? std::vector<std::uint8_t>{0, 1, 2} : std::vector<std::uint8_t>{0, 1, 1};
    directory.write(part + "/data_batch_1.bin", cifar_records(1, labels));
    directory.write(part + "/test_batch.bin", cifar_records(1, {1}));
    directory.write(fmt::format("one-{}/data_batch_1.bin", rank),
                    cifar_records(1, {0, static_cast<std::uint8_t>(rank)}));
    directory.write(fmt::format("one-{}/test_batch.bin", rank),
                    cifar_records(1, {static_cast<std::uint8_t>(rank)}));
  }
  const auto open = [&](const std::string& set, int classes) {
    run_ranks_as_threads(2, [&](Communicator& ranks) {
      DataRequest request;
      request.train = directory.path + "/" + set + "-{rank}";
      request.sharding = ShardBy::rank;
      request.classes = classes;
      const OpenedImages opened = open_images(request, ranks);
      if (opened.data.classes != (classes == 0 ? 3 : classes))
        throw Error(ErrorKind::internal, {"classes", "", ""});
    });
  };
  open("part", 0);
  const Message one = expect_error(ErrorKind::request, "all training labels are 0", [&] { open("one", 0); });
  CHECK(one.hint.starts_with("--classes N"));
  open("one", 2);
  directory.write("part-1/test_batch.bin", cifar_records(1, {2}));
  const Message later = expect_error(
      ErrorKind::request, "a test label is 2, but the largest training label is 1", [&] { open("part", 0); });
  CHECK(later.hint.starts_with("--classes 3 "));
  open("part", 3);
}

TEST_CASE("parts: a label is one class on all ranks") {
  const TemporaryDirectory directory;
  const Bytes image = write_png(make_image(1, 4, 5));
  const auto make_part = [&](const std::string& part, const std::vector<std::string>& classes) {
    for (const std::string& one : classes) {
      for (const char* place : {"train", "val"})
        directory.write(fmt::format("{}/{}/{}/1.png", part, place, one), image);
    }
  };
  const auto open = [&](const std::string& set, ShardBy split) {
    run_ranks_as_threads(2, [&](Communicator& ranks) {
      DataRequest request;
      request.train = directory.path + "/" + set + "-{rank}";
      request.sharding = split;
      open_images(request, ranks);
    });
  };
  make_part("lacks-0", {"c0", "c1", "c2"});
  make_part("lacks-1", {"c1", "c2"});
  for (const ShardBy split : {ShardBy::rank, ShardBy::host}) {
    const Message lacks = expect_error(
        ErrorKind::request, "rank 0 and rank 1 give one label to different classes: only rank 0 has c0",
        [&] { open("lacks", split); });
    CHECK(lacks.where.find("; rank 1: " + directory.path + "/lacks-1/train") != std::string::npos);
    CHECK(lacks.hint.starts_with("ls " + directory.path + "/lacks-1/train   #"));
  }
  expect_error(ErrorKind::request, "the images of the ranks differ", [&] { open("lacks", ShardBy::none); });
  make_part("named-0", {"ant", "bee"});
  make_part("named-1", {"ant", "cat"});
  expect_error(ErrorKind::request, "only rank 0 has bee; only rank 1 has cat",
               [&] { open("named", ShardBy::rank); });
  make_part("equal-0", {"ant", "bee"});
  make_part("equal-1", {"ant", "bee"});
  open("equal", ShardBy::rank);
  // Labels that are written mean the same everywhere, whatever a part lacks.
  directory.write("lists-0/train.txt",
                  std::string("../lacks-0/train/c0/1.png 0\n../lacks-0/train/c1/1.png 1\n"));
  directory.write("lists-1/train.txt",
                  std::string("../lacks-1/train/c1/1.png 1\n../lacks-1/train/c2/1.png 2\n"));
  directory.write("lists-0/val.txt", std::string("../lacks-0/val/c1/1.png 1\n"));
  directory.write("lists-1/val.txt", std::string("../lacks-1/val/c1/1.png 1\n"));
  open("lists", ShardBy::rank);
}

TEST_CASE("options about images") {
  CHECK(parse_sides("--crop", "227") == Sides{227, 227});
  CHECK(parse_sides("--crop", "20x30") == Sides{20, 30});
  for (const char* wrong : {"", "x", "3x", "0", "3x4x5", "-1"}) {
    CAPTURE(wrong);
    expect_error(ErrorKind::usage, "is not a whole number", [&] { parse_sides("--crop", wrong); });
  }
  DataRequest request;
  parse_mean("--mean", "104,117.5,123", request);
  CHECK(request.mean == std::vector<float>{104.0F, 117.5F, 123.0F});
  parse_mean("--mean", "mean.binaryproto", request);
  CHECK(request.mean_file == "mean.binaryproto");
  expect_error(ErrorKind::usage, "is not a number", [&] { parse_mean("--mean", "1,,2", request); });
}

TEST_CASE("class directories: what a training would lose without a word") {
  const TemporaryDirectory directory;
  for (const char* name : {"train/boots/1.png", "train/boots/2.webp", "train/boots/3.webp",
                           "train/bags/1.png", "train/bags/Thumbs.db", "val/bags/1.png"})
    directory.write(name, write_png(make_image(1, 4, 5)));
  std::filesystem::create_directories(directory.path + "/train/hats");
  const std::string train = directory.path + "/train";
  const std::vector<Message> found = check_class_directories(train, directory.path + "/val");
  REQUIRE(found.size() == 5);
  CHECK(found[0].what == "the class \"bags\" has a single training image");
  CHECK(found[1].what == "the class \"boots\" is used without 2 .webp, which are not read; 1 image is");
  CHECK(found[2].what == "the class \"boots\" has a single training image");
  CHECK(found[3].what ==
        "the class \"boots\" has no test images: the test accuracy is that of the other classes");
  CHECK(found[3].where == directory.path + "/val");
  CHECK(found[4].what == "the directory \"hats\" has no files, so it is no class of this training");
  CHECK(load_dataset(directory.path).warnings == found);
  CHECK(check_class_directories(train, "").size() == 4);
  directory.write("train/hats/monday/1.heic", std::string("x"));
  const Message unread =
      expect_error(ErrorKind::request, "\"hats\" has no image that can be read, only 1 .heic",
                   [&] { load_dataset(directory.path); });
  CHECK(unread.where == train + "/hats");
  CHECK(unread.hint.starts_with("mogrify -format png " + train + "/hats/monday/*.heic "));
  directory.write("train/hats/monday/2.HEIC", std::string("x"));
  const Message both =
      expect_error(ErrorKind::request, "\"hats\" has no image that can be read, only 2 .heic",
                   [&] { load_dataset(directory.path); });
  const std::string monday = train + "/hats/monday/*";
  CHECK(both.hint.starts_with("mogrify -format png " + monday + ".HEIC " + monday + ".heic "));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
