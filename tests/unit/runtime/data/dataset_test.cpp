// SPDX-License-Identifier: MIT
#include "runtime/data/dataset.hpp"

#include "runtime/core/gzip.hpp"
#include "runtime/data/idx.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <zlib.h>

namespace ddlrun::runtime {
namespace {

// zlib's own compressor makes the input of our reader.
Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()) + 32);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

ImageSet tiny_set(Bytes pixels, Bytes labels) {
  ImageSet set;
  set.shape = {1, 1, static_cast<int>(pixels.size() / labels.size())};
  set.pixels = std::move(pixels);
  set.labels.assign(labels.begin(), labels.end());
  return set;
}

const std::string subset_directory = DDLRUN_TEST_DATA "/fashion-mnist-subset";

}  // namespace
TEST_SUITE_BEGIN("runtime/data/dataset");

// namespace

TEST_CASE("gzip: round trips, members, padding") {
  for (const std::size_t size : {0U, 1U, 1000U, 3'000'000U}) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 3U);
    CHECK(gunzip(gzip(bytes), size, "f") == bytes);
  }
  CHECK(gunzip(joined(gzip({1, 2}), gzip({3})), 10, "two members") == Bytes{1, 2, 3});
  CHECK(gunzip(joined(gzip({1, 2}), {0, 0, 0}), 10, "padded") == Bytes{1, 2});
}

TEST_CASE("gzip: a bomb, a cut file, damage") {
  const Bytes bomb = gzip(Bytes(4'000'000, 0));
  CHECK(bomb.size() < 10'000);
  expect_error(ErrorKind::request, "more than 100000 bytes", [&] { gunzip(bomb, 100'000, "bomb.gz"); });
  // An IDX file is unpacked as far as its header declares: here 8 labels, in a first member without all of
  // the header.
  const Bytes labels = joined(gzip({0, 0, 8}), gzip(joined({1, 0, 0, 0, 8}, Bytes(4'000'000, 0))));
  const auto declared = [](std::span<const std::uint8_t> head) { return idx_size(head, 1, "labels.gz"); };
  expect_error(ErrorKind::request, "more than the 16 bytes that its header declares",
               [&] { gunzip(labels, max_data_bytes, "labels.gz", declared); });
  expect_error(ErrorKind::request,
               "its header declares 4294967303 bytes, and the limit for a data file is 1000", [&] {
                 gunzip(gzip({0, 0, 8, 1, 255, 255, 255, 255, 0}), 1000, "labels.gz", declared);
               });
  const Bytes good = gzip({1, 2, 3, 4, 5, 6, 7, 8});
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error(ErrorKind::request, "gzip data", [&] { gunzip(cut, 100, "cut.gz"); });
  }
  Bytes bad = good;
  bad[good.size() - 6] ^= 0xffU;  // the checksum
  expect_error(ErrorKind::request, "damaged", [&] { gunzip(bad, 100, "bad.gz"); });
}

TEST_CASE("data: the committed subset") {
  const Dataset data = load_dataset(subset_directory);
  CHECK(data.kind == "MNIST's IDX files");
  CHECK(data.train_images->count() == 1000);
  CHECK(data.test_images->count() == 200);
  CHECK(data.classes == 10);
  CHECK(data.input() == Shape{1, 28, 28});
  // Labels of the first images as the data set's authors publish them: ankle boot, T-shirt, T-shirt, dress.
  CHECK(data.train_images->label(0) == 9);
  CHECK(data.train_images->label(1) == 0);
  CHECK(data.train_images->label(2) == 0);
  CHECK(data.train_images->label(3) == 3);
  // The full set is known for a mean of 0.2860 and a deviation of 0.3530.
  CHECK(data.transform.mean.at(0) / 255.0F == doctest::Approx(0.2860).epsilon(0.02));
  CHECK(1.0F / data.transform.scale.at(0) / 255.0F == doctest::Approx(0.3530).epsilon(0.02));
}

TEST_CASE("data: images reach the net with mean 0 and deviation 1, each channel of its own") {
  const Dataset data = make_dataset(tiny_set({0, 255, 0, 255}, {0, 1}), tiny_set({255, 0}, {1}), "d");
  CHECK(data.transform.mean == std::vector<float>{127.5F});
  CHECK(data.transform.scale.at(0) == doctest::Approx(1.0 / 127.5));
  const Dataset flat = make_dataset(tiny_set({7, 7}, {0, 1}), tiny_set({7}, {1}), "d");
  CHECK(flat.transform.mean.at(0) == doctest::Approx(7.0));
  CHECK(flat.transform.scale.at(0) == 1.0F);
  ImageSet colours{{3, 1, 2}, {0, 2, 10, 10, 100, 200, 2, 0, 10, 10, 100, 200}, {0, 1}};
  const Dataset coloured = make_dataset(colours, colours, "d");
  CHECK(coloured.transform.mean == std::vector<float>{1.0F, 10.0F, 150.0F});
  CHECK(coloured.transform.scale == std::vector<float>{1.0F, 1.0F, 1.0F / 50.0F});
}

TEST_CASE("data: sets that do not fit together") {
  const Bytes three_labels{0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 2};
  const Bytes two_images{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 5, 6};
  const Bytes no_images{0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1};
  expect_error(ErrorKind::request, "2 images but 3 labels",
               [&] { make_image_set(two_images, three_labels, "i", "l"); });
  expect_error(ErrorKind::request, "0 images of 1x1",
               [&] { make_image_set(no_images, three_labels, "i", "l"); });
  expect_error(ErrorKind::request, "training images are 1x1, test images 1x2", [&] {
    make_dataset(tiny_set({1, 2}, {0, 1}), tiny_set({1, 2}, {0}), "d");
  });
  expect_error(ErrorKind::request, "at least 2 classes", [&] {
    make_dataset(tiny_set({1, 2}, {0, 0}), tiny_set({1}, {0}), "d");
  });
  expect_error(ErrorKind::request, "a test label is 2, but the largest training label is 1", [&] {
    make_dataset(tiny_set({1, 2}, {0, 1}), tiny_set({1}, {2}), "d");
  });
}

TEST_CASE("data: file names with a dot, with and without gz, and missing files") {
  const TemporaryDirectory directory;
  const Bytes images = render_idx(std::vector<std::uint32_t>{2, 1, 1}, Bytes{3, 4});
  const Bytes labels = render_idx(std::vector<std::uint32_t>{2}, Bytes{0, 1});
  expect_error(ErrorKind::request, "the directory is empty", [&] { load_dataset(directory.path); });
  directory.write("train-labels-idx1-ubyte.gz", gzip(labels));
  expect_error(ErrorKind::request, "train-images-idx3-ubyte[.gz] is missing",
               [&] { load_dataset(directory.path); });
  directory.write("train-images.idx3-ubyte", images);
  directory.write("t10k-images.idx3-ubyte.gz", gzip(images));
  directory.write("t10k-labels-idx1-ubyte", gzip(labels));  // gzip without the name
  std::byte pixel{};
  load_dataset(directory.path).train_images->read(1, std::span(&pixel, 1));
  CHECK(pixel == std::byte{4});
  CHECK(fingerprint(load_dataset(directory.path)) == fingerprint(load_dataset(directory.path)));
  expect_error(ErrorKind::request, "does not exist", [&] { load_dataset(directory.path + "/nothing"); });
  expect_error(ErrorKind::request, "the limit is 3",
               [&] { read_data_file(directory.path + "/t10k-labels-idx1-ubyte", 3); });
  expect_error(ErrorKind::request, "not a regular file", [&] { read_data_file("/dev/zero"); });
}

TEST_CASE("data: where it is looked for") {
  CHECK(find_data("/somewhere").directory == "/somewhere");
  CHECK(find_data("/somewhere").reason == "--data");
  setenv("DDLRUN_DATA", "/elsewhere", 1);
  CHECK(find_data("").directory == "/elsewhere");
  CHECK(find_data("").reason == "DDLRUN_DATA");
  unsetenv("DDLRUN_DATA");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
