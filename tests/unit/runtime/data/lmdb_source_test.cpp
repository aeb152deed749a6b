// SPDX-License-Identifier: MIT
// Datums and LMDBs: what was written is read, what is damaged is refused by key or file. That Caffe's own
// format is meant, others' programs judge in tests/mpi/images.sh.
#include "runtime/data/lmdb_source.hpp"

#include "runtime/data/dataset.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/lmdb_pages.hpp"
#include "runtime/data/protobuf_wire.hpp"
#include "tests/support/mutate.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

namespace ddlrun::runtime {
namespace {

// By hand, from protobuf's published encoding: channels 1, height 2, width 3, data "abcdef", label 7.
const Bytes plain_datum{0x08, 1, 0x10, 2, 0x18, 3, 0x22, 6, 'a', 'b', 'c', 'd', 'e', 'f', 0x28, 7};

Bytes encoded_datum(const Bytes& image, std::uint8_t label) {
  Bytes record{0x08, 3, 0x28, label, 0x38, 1};
  write_bytes(record, 4, image);
  return record;
}

Bytes with_fields(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string write_lmdb(const TemporaryDirectory& directory, const std::string& name,
                       const std::vector<Bytes>& records) {
  const std::string lmdb = directory.path + "/" + name;
  LmdbWriter writer(lmdb, std::size_t{1} << 26U);
  for (std::size_t i = 0; i < records.size(); ++i) writer.put("0000" + std::to_string(1000 + i), records[i]);
  writer.finish();
  return lmdb;
}

Bytes read_image(const ImageSource& source, std::size_t index) {
  Bytes out(source.image_bytes());
  source.read(index, std::as_writable_bytes(std::span(out)));
  return out;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/data/lmdb_source");

// namespace

TEST_CASE("datum: hand-made bytes, in any order of fields, with unknown ones") {
  const Datum datum = parse_datum(plain_datum, "k");
  CHECK(datum.channels == 1);
  CHECK(datum.height == 2);
  CHECK(datum.width == 3);
  CHECK(Bytes(datum.data.begin(), datum.data.end()) == Bytes{'a', 'b', 'c', 'd', 'e', 'f'});
  CHECK(datum_class(datum, "k") == 7);
  CHECK_FALSE(datum.encoded);
  CHECK(render_datum({1, 2, 3}, datum.data, 7) == plain_datum);
  const Bytes unknown{0x4a, 2, 9, 9, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x5d, 1, 2, 3, 4};  // fields 9, 10, 11
  CHECK(parse_datum(with_fields(unknown, plain_datum), "k").label == 7);
  CHECK(parse_datum(with_fields(plain_datum, {0x28, 9}), "k").label == 9);  // the last one counts
  // 1.0 and -2.0: packed, and one by one.
  const Bytes sides{0x08, 1, 0x10, 1, 0x18, 2};
  const Bytes packed = with_fields(sides, {0x32, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
  const Bytes single = with_fields(sides, {0x35, 0, 0, 0x80, 0x3f, 0x35, 0, 0, 0, 0xc0});
  CHECK(parse_datum(packed, "k").float_data == std::vector<float>{1.0F, -2.0F});
  CHECK(parse_datum(single, "k").float_data == std::vector<float>{1.0F, -2.0F});
}

TEST_CASE("datum: refusals") {
  const Bytes minus_one{0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  struct Row {
    Bytes record;
    const char* what;
  };
  const Row rows[] = {
      {{}, "the Datum declares 0x0x0, but has 0 values"},
      {{0x08}, "these 1 bytes are not a Caffe Datum"},
      {{0x22, 9, 'a'}, "these 3 bytes are not a Caffe Datum"},
      {{0x0b, 0}, "are not a Caffe Datum"},  // a group
      {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "are not a Caffe Datum"},
      {{0x08, 1, 0x10, 2, 0x18, 4, 0x22, 1, 'a'}, "the Datum declares 1x2x4, but has 1 values"},
      {{0x08, 1, 0x38, 1}, "encoded, but has no data"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(expect_error(ErrorKind::request, row.what, [&] { parse_datum(row.record, "key 5"); }).where ==
          "key 5");
  }
  expect_error(ErrorKind::request, "the label -1 is invalid",
               [&] { datum_class(parse_datum(with_fields(plain_datum, minus_one), "k"), "k"); });
}

TEST_CASE("datum: whatever bytes, a Datum or a refusal") {
  const std::string seeds[] = {std::string(plain_datum.begin(), plain_datum.end()),
                               std::string("\x08\x01\x10\x01\x18\x02\x32\x08\0\0\x80\x3f\0\0\0\xc0", 16)};
  std::uint64_t read = 0;
  const std::uint64_t rounds = tests::mutation_rounds(20'000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::string mutated = tests::mutate(seeds[i % 2], i);
    const Bytes bytes(mutated.begin(), mutated.end());
    try {
      const Datum datum = parse_datum(bytes, "k");
      CHECK(datum.data.size() + datum.float_data.size() >=
            static_cast<std::size_t>(datum.encoded ? 0 : datum.channels * datum.height * datum.width));
      ++read;
    } catch (const Error&) {
    }
    try {
      parse_mean_image(bytes, "mean");
    } catch (const Error&) {
    }
  }
  CHECK(read > 0);
  CHECK(read < rounds);
}

TEST_CASE("mean image: old and new ways to say its shape") {
  const Bytes data{0x2a, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};  // 1, 2
  const Bytes old_way = with_fields({0x08, 1, 0x10, 1, 0x18, 1, 0x20, 2}, data);
  const Bytes new_way = with_fields(data, {0x3a, 6, 0x0a, 4, 1, 1, 1, 2});
  for (const Bytes& file : {old_way, new_way}) {
    const MeanImage mean = parse_mean_image(file, "m");
    CHECK(mean.shape == Shape{1, 1, 2});
    CHECK(mean.values == std::vector<float>{1.0F, 2.0F});
  }
  expect_error(ErrorKind::request, "not a Caffe mean image", [&] {
    parse_mean_image(with_fields({0x08, 2}, data), "m");
  });
  expect_error(ErrorKind::request, "but has 2 values", [&] {
    parse_mean_image(with_fields({0x10, 1, 0x18, 1, 0x20, 3}, data), "m");
  });
}

TEST_CASE("lmdb: what was written is read, in the order of the keys") {
  const TemporaryDirectory directory;
  std::vector<Bytes> records;
  for (int i = 0; i < 3'000; ++i) {  // more than one commit, more than one page
    Bytes pixels(300, static_cast<std::uint8_t>(i * 7));
    records.push_back(render_datum({3, 10, 10}, pixels, static_cast<Label>(i % 12)));
  }
  const std::string lmdb = write_lmdb(directory, "set", records);
  CHECK(is_lmdb(lmdb));
  CHECK_FALSE(is_lmdb(directory.path));
  for (const std::string& path : {lmdb, lmdb + "/data.mdb"}) {
    const SourcePtr source = open_lmdb(path, {});
    REQUIRE(source->count() == 3'000);
    CHECK(source->shape() == Shape{3, 10, 10});
    CHECK(source->name(1).ends_with("key 00001001"));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 3'000; ++i) {
      wrong += source->label(i) == i % 12 ? 0 : 1;
      wrong += read_image(*source, i) == Bytes(300, static_cast<std::uint8_t>(i * 7)) ? 0 : 1;
      wrong +=
          std::to_integer<std::uint8_t>(source->view(i)[299]) == static_cast<std::uint8_t>(i * 7) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(count_classes(*source) == 12);
    CHECK(source->fingerprint() == open_lmdb(lmdb, {})->fingerprint());
  }
  expect_error(ErrorKind::request, "cannot be created", [&] { write_lmdb(directory, "set", {}); });
}

TEST_CASE("lmdb: encoded images and floats") {
  const TemporaryDirectory directory;
  const Image image = make_image(3, 6, 9);
  const std::string images =
      write_lmdb(directory, "pictures",
                 {encoded_datum(write_png(image), 2), encoded_datum(write_png(make_image(3, 12, 18)), 1)});
  const SourcePtr source = open_lmdb(images, {});
  Bytes planes(162);
  write_planes(image, planes);
  CHECK(read_image(*source, 0) == planes);
  CHECK(source->view(0).empty());
  CHECK(source->label(0) == 2);
  const Message message = expect_error(ErrorKind::request, "this image is 12x18, but the first one is 6x9",
                                       [&] { read_image(*source, 1); });
  CHECK(message.hint == "--resize 6x9   # all images");
  DataRequest request;
  request.resize = {6, 9};
  request.channels = 1;
  CHECK(read_image(*open_lmdb(images, request), 1).size() == 54);
  const std::string floats = write_lmdb(
      directory, "floats", {{0x08, 1, 0x10, 1, 0x18, 2, 0x32, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0x28, 1}});
  const SourcePtr numbers = open_lmdb(floats, {});
  CHECK(numbers->pixels() == PixelKind::floats);
  float values[2] = {};
  numbers->read(0, std::as_writable_bytes(std::span(values)));
  CHECK(values[1] == -2.0F);
  expect_error(ErrorKind::request, "--resize applies to encoded images", [&] { open_lmdb(floats, request); });
}

TEST_CASE("lmdb: a training and a testing one beside each other are a data set") {
  const TemporaryDirectory directory;
  const auto image = [](std::uint8_t value, Label label) {
    return render_datum({1, 2, 2}, Bytes(4, value), label);
  };
  write_lmdb(directory, "mnist_train_lmdb", {image(0, 0), image(100, 1), image(200, 2)});
  write_lmdb(directory, "mnist_test_lmdb", {image(50, 2)});
  for (const std::string& place : {directory.path, directory.path + "/mnist_train_lmdb"}) {
    const Dataset data = load_dataset(place);
    CHECK(data.kind == "Caffe's LMDB");
    CHECK(data.train_images->count() == 3);
    CHECK(data.test_images->count() == 1);
    CHECK(data.classes == 3);
    CHECK(data.transform.mean == std::vector<float>{100.0F});
  }
  DataRequest request;
  request.train = directory.path + "/mnist_train_lmdb";
  request.memory = 0;  // from the disk
  request.plain = true;
  request.scale = 0.5F;
  const Dataset streamed = load_dataset(request);
  CHECK_FALSE(streamed.train_images->in_memory());
  CHECK(streamed.transform.scale == std::vector<float>{0.5F});
  CHECK(streamed.transform.mean.empty());
  request.classes = 2;
  expect_error(ErrorKind::request, "the label is 2; with 2 classes it must be less",
               [&] { load_dataset(request); });
}

TEST_CASE("lmdb: until it is whole no reader finds one, and what is not finished goes") {
  const TemporaryDirectory directory;
  const std::string lmdb = directory.path + "/x_train_lmdb";
  {
    LmdbWriter writer(lmdb + "/", std::size_t{1} << 26U);
    for (int i = 0; i < 2500; ++i) writer.put("0000" + std::to_string(1000 + i), plain_datum);  // two commits
    CHECK_FALSE(std::filesystem::exists(lmdb));
    CHECK_FALSE(is_lmdb(lmdb + ".part"));
    expect_error(ErrorKind::request, "another process is writing this LMDB",
                 [&] { LmdbWriter(lmdb, std::size_t{1} << 26U); });
  }
  CHECK(std::filesystem::is_empty(directory.path));
  directory.write("x_train_lmdb.part/unfinished", std::string("of a killed one"));
  write_lmdb(directory, "x_train_lmdb", {plain_datum});
  CHECK(open_lmdb(lmdb, {})->count() == 1);
  CHECK_FALSE(std::filesystem::exists(lmdb + ".part"));
  CHECK_FALSE(std::filesystem::exists(lmdb + "/unfinished"));
  const Message there =
      expect_error(ErrorKind::request, "File exists", [&] { LmdbWriter(lmdb, std::size_t{1} << 26U); });
  CHECK(there.hint.find(lmdb + "-2") != std::string::npos);
  CHECK(open_lmdb(lmdb, {})->count() == 1);
}

TEST_CASE("lmdb: refusals") {
  const TemporaryDirectory directory;
  directory.write("text/data.mdb", std::string(9'000, 'x'));
  expect_error(ErrorKind::request, "this is not an LMDB", [&] { open_lmdb(directory.path + "/text", {}); });
  directory.write("empty-file/data.mdb", std::string());
  expect_error(ErrorKind::request, "the file is empty",
               [&] { open_lmdb(directory.path + "/empty-file", {}); });
  expect_error(ErrorKind::request, "data.mdb does not exist", [&] { open_lmdb(directory.path, {}); });
  expect_error(ErrorKind::request, "the LMDB has no records",
               [&] { open_lmdb(write_lmdb(directory, "empty", {}), {}); });
  const std::vector<Bytes> many(200, render_datum({3, 50, 50}, Bytes(7500, 1), 1));
  const std::string cut = write_lmdb(directory, "cut", many);
  REQUIRE(truncate((cut + "/data.mdb").c_str(), 400'000) == 0);
  expect_error(ErrorKind::request, "the LMDB is cut short: 400000 bytes of", [&] { open_lmdb(cut, {}); });
  const std::string mixed =
      write_lmdb(directory, "mixed", {plain_datum, render_datum({1, 1, 3}, Bytes(3, 1), 1), {1, 2, 3}});
  const SourcePtr source = open_lmdb(mixed, {});
  const Message message = expect_error(ErrorKind::request, "this record is 1x1x3, but the first one is 1x2x3",
                                       [&] { read_image(*source, 1); });
  CHECK(message.where.ends_with("key 00001001"));
  expect_error(ErrorKind::request, "these 3 bytes are not a Caffe Datum", [&] { source->label(2); });
}

TEST_CASE("lmdb: whatever bytes, records within them or a refusal") {
  const TemporaryDirectory directory;
  std::vector<Bytes> records;
  for (int i = 0; i < 60; ++i)
    records.push_back(render_datum({1, i == 30 ? 90 : 8, 60}, Bytes(i == 30 ? 5400 : 480, 7), 1));
  std::ifstream input(write_lmdb(directory, "seed", records) + "/data.mdb", std::ios::binary);
  const Bytes seed((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
  CHECK(parse_lmdb(seed, "l").size() == 60);
  std::mt19937_64 random(4);
  std::uint64_t read = 0;
  const std::uint64_t rounds = tests::mutation_rounds(20'000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    Bytes bytes = seed;
    if (i % 8 == 0) bytes.resize(random() % bytes.size());
    for (std::uint64_t k = 0; k < 1 + i % 3 && !bytes.empty(); ++k) {
      // Most bytes are pixels: aim at the heads of pages.
      const std::size_t page = random() % (bytes.size() / 4096 + 1) * 4096;
      const std::size_t at = std::min<std::size_t>(page + random() % 176, bytes.size() - 1);
      bytes[at] = static_cast<std::uint8_t>(random() % 2 == 0 ? random() : bytes[at] ^ (1U << random() % 8));
    }
    try {
      for (const LmdbRecord& record : parse_lmdb(bytes, "l")) {
        const bool inside = record.key >= bytes.data() && record.value >= bytes.data() &&
                            record.key + record.key_size <= bytes.data() + bytes.size() &&
                            record.value + record.value_size <= bytes.data() + bytes.size();
        if (!inside) FAIL("a record outside of the file in round ", i);
      }
      ++read;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::request);
    }
  }
  CHECK(read > 0);
  CHECK(read < rounds);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
