// SPDX-License-Identifier: MIT
// Images: right pixels where the format keeps them, refusals by name where it does not, and no crash for
// whatever bytes. How real files of all kinds decode is judged by others' programs in tests/mpi/images.sh.
#include "runtime/data/image_formats.hpp"
#include "tests/support/mutate.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

namespace ddlrun::runtime {
namespace {

Bytes text_bytes(std::string_view text) { return {text.begin(), text.end()}; }

// EXIF behind the first two bytes: one entry, the orientation.
Bytes with_orientation(Bytes jpeg, std::uint8_t orientation, bool little) {
  Bytes exif =
      little ? Bytes{'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0}
             : Bytes{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0};
  Bytes segment{0xff, 0xe1, 0, static_cast<std::uint8_t>(exif.size() + 8), 'E', 'x', 'i', 'f', 0, 0};
  segment.insert(segment.end(), exif.begin(), exif.end());
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());
  return jpeg;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/data/image");

// namespace

TEST_CASE("image: what was written is read") {
  for (const int channels : {1, 3}) {
    const Image image = make_image(channels, 13, 21);
    CHECK(decode_image(write_png(image), channels, "p").pixels == image.pixels);
    CHECK(read_image_shape(write_png(image), "p") == Shape{channels, 13, 21});
    for (const bool progressive : {false, true}) {
      const Image read = decode_image(write_jpeg(image, progressive), channels, "j");
      CHECK(read_image_shape(write_jpeg(image, progressive), "j") == Shape{channels, 13, 21});
      REQUIRE(read.pixels.size() == image.pixels.size());
      int worst = 0;
      for (std::size_t i = 0; i < read.pixels.size(); ++i)
        worst = std::max(worst, std::abs(read.pixels[i] - image.pixels[i]));
      CHECK(worst <= 2);  // of quality 100, colours converted to and fro
    }
  }
}

TEST_CASE("image: grey becomes colour and colour grey; planes are blue, green, red") {
  const Image grey = make_image(1, 2, 2);
  const Image wide = decode_image(write_png(grey), 3, "p");
  CHECK(wide.channels == 3);
  CHECK(wide.pixels[5] == grey.pixels[1]);
  const Image red{3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}};
  CHECK(decode_image(write_png(red), 1, "p").pixels == Bytes{76, 150, 29});  // BT.601's 0.299, 0.587, 0.114
  Bytes planes(9);
  write_planes(red, planes);
  CHECK(planes == Bytes{0, 0, 255, 0, 255, 0, 255, 0, 0});
}

TEST_CASE("image: PNM of 8 and 16 bits, with comments") {
  CHECK(decode_image(text_bytes("P5 2 1 255\nab"), 1, "p").pixels == Bytes{'a', 'b'});
  CHECK(decode_image(text_bytes("P5\n# made by hand\n2 # two\n1\n255\nab"), 1, "p").pixels ==
        Bytes{'a', 'b'});
  CHECK(decode_image(text_bytes("P6 1 1 255 abc"), 3, "p").pixels == Bytes{'a', 'b', 'c'});
  CHECK(decode_image(
            Bytes{'P', '5', ' ', '2', ' ', '1', ' ', '6', '5', '5', '3', '5', '\n', 255, 255, 128, 0}, 1, "p")
            .pixels == Bytes{255, 128});
  CHECK(decode_image(Bytes{'P', '5', ' ', '3', ' ', '1', ' ', '1', '5', '\n', 0, 15, 3}, 1, "p").pixels ==
        Bytes{0, 255, 51});
}

TEST_CASE("image: held as the camera was, by EXIF in either order of bytes") {
  // 16x8, left half dark, upper right quarter bright: each orientation puts the bright quarter elsewhere.
  Image image{1, 16, 32, Bytes(512, 20)};
  for (std::size_t y = 0; y < 8; ++y) std::fill_n(&image.pixels[y * 32 + 16], 16, 230);
  const Bytes jpeg = write_jpeg(image);
  struct Row {
    std::uint8_t orientation;
    int height, width;
    bool bottom, right;  // where the bright quarter is
  };
  const Row rows[] = {{1, 16, 32, false, true}, {2, 16, 32, false, false}, {3, 16, 32, true, false},
                      {4, 16, 32, true, true},  {5, 32, 16, true, false},  {6, 32, 16, true, true},
                      {7, 32, 16, false, true}, {8, 32, 16, false, false}, {9, 16, 32, false, true}};
  for (const Row& row : rows) {
    for (const bool little : {false, true}) {
      CAPTURE(static_cast<int>(row.orientation));
      const Bytes file = with_orientation(jpeg, row.orientation, little);
      CHECK(read_image_shape(file, "j") == Shape{1, row.height, row.width});
      const Image read = decode_image(file, 1, "j");
      REQUIRE(read.height == row.height);
      for (const bool bottom : {false, true}) {
        for (const bool right : {false, true}) {
          const int y = row.height / 4 + (bottom ? row.height / 2 : 0);
          const int x = row.width / 4 + (right ? row.width / 2 : 0);
          const int pixel = read.pixels[static_cast<std::size_t>(y * row.width + x)];
          CHECK((pixel > 128) == (bottom == row.bottom && right == row.right));
        }
      }
    }
  }
}

TEST_CASE("image: refusals name the file") {
  const Bytes png = write_png(make_image(3, 40, 40));
  const Bytes jpeg = write_jpeg(make_image(3, 40, 40));
  const auto head = [](const Bytes& bytes, std::size_t size) {
    return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  };
  struct Row {
    Bytes file;
    const char* what;
  };
  Bytes huge_png = png;
  huge_png[16] = 0;
  huge_png[17] = 1;  // 65,576 wide
  const Row rows[] = {{{}, "the file is empty"},
                      {text_bytes("GIF89a"), "not a JPEG, PNG or PNM file: it starts with 47 49 46 38"},
                      {head(png, 60), "the PNG is damaged or cut short"},
                      {head(png, png.size() - 30), "the PNG is damaged or cut short"},
                      {huge_png, "the PNG is damaged or cut short"},
                      {head(jpeg, 30), "the JPEG is damaged or cut short"},
                      {head(jpeg, jpeg.size() / 2), "the JPEG is damaged or cut short"},
                      {head(jpeg, jpeg.size() - 2), "the JPEG is damaged or cut short"},
                      {text_bytes("P5 4 4 255\nabc"), "the PNM is cut short: 3 of 16 bytes"},
                      {text_bytes("P6 60000 60000 255\n"), "the image has 60000x60000 pixels"},
                      {text_bytes("P5 0 3 255\n"), "the image has 3x0 pixels"},
                      {text_bytes("P5 1 1 70000\n"), "the PNM's maximum value is 70000"},
                      {text_bytes("P5 x"), "the PNM header lacks width"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const Message message =
        expect_error(ErrorKind::request, row.what, [&] { decode_image(row.file, 3, "dir/cat.jpg"); });
    CHECK(message.where == "dir/cat.jpg");
  }
}

TEST_CASE("image: a refusal has the way on, by what the file is and not by its name") {
  struct Row {
    std::string start;
    const char* format;
  };
  for (const Row& row :
       {Row{"RIFF....WEBPVP8 ", "a WebP image"}, Row{"II*............. ", "a TIFF image"},
        Row{std::string("MM\0*............", 16), "a TIFF image"}, Row{"GIF89a..........", "a GIF image"},
        Row{"....ftypheic....", "an image of a HEIC"}}) {
    CAPTURE(row.format);
    const Message message =
        expect_error(ErrorKind::request, std::string("not a JPEG, PNG or PNM file: it is ") + row.format,
                     [&] { decode_image(text_bytes(row.start), 3, "dir/my cat.jpg"); });
    CHECK(message.hint ==
          "mogrify -format png 'dir/my cat.jpg'   # ImageMagick; .jpg, .png and .pnm are read");
  }
  const Message damaged = expect_error(ErrorKind::request, "the PNM is cut short",
                                       [] { decode_image(text_bytes("P5 4 4 255\nabc"), 3, "cat.pgm"); });
  CHECK(damaged.hint.find("ddl-train read-data DIR --all") != std::string::npos);
}

TEST_CASE("image: more scans than the pixels allow") {
  const auto grey = [](int side) {
    return Image{1, side, side, Bytes(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), 128)};
  };
  CHECK(decode_image(write_jpeg(grey(200), false, 64), 1, "small.jpg").height == 200);
  CHECK(decode_image(write_jpeg(grey(2000), false, 20), 1, "large.jpg").height == 2000);
  expect_error(ErrorKind::request, "the JPEG has more than 50 scans, the limit for 2000x2000 pixels",
               [&] { decode_image(write_jpeg(grey(2000), false, 64), 1, "slow.jpg"); });
  // Bytes behind the image, as phones append a film, are no scans.
  Bytes film = write_jpeg(grey(2000));
  for (int i = 0; i < 100; ++i) film.insert(film.end(), {0xff, 0xda});
  CHECK(decode_image(film, 1, "film.jpg").width == 2000);
}

TEST_CASE("image: whatever bytes, a image or a refusal") {
  const Bytes seeds[] = {
      write_jpeg(make_image(3, 24, 17)),     write_jpeg(make_image(1, 24, 17), true),
      write_jpeg(make_image(4, 16, 16)),     with_orientation(write_jpeg(make_image(3, 9, 16)), 6, true),
      write_png(make_image(3, 11, 8)),       write_png(make_image(1, 11, 8)),
      text_bytes("P6 2 2 255\nabcdefghijkl")};
  const std::uint64_t rounds = tests::mutation_rounds(2'000);
  std::uint64_t read = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const Bytes& seed = seeds[i % std::size(seeds)];
    const std::string mutated = tests::mutate(std::string(seed.begin(), seed.end()), i);
    try {
      const Image image = decode_image(text_bytes(mutated), 1 + 2 * static_cast<int>(i % 2), "fuzz");
      CHECK(image.pixels.size() == static_cast<std::size_t>(image.channels) *
                                       static_cast<std::size_t>(image.height) *
                                       static_cast<std::size_t>(image.width));
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
