// SPDX-License-Identifier: MIT
#include "runtime/app/test_checkpoint.hpp"

#include "runtime/app/predict_photos.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/app/test_checkpoint");

TEST_CASE("confusion: the accuracy of each class, and who is taken for whom") {
  const ConfusionMatrix matrix{{"cat", "dog", "elephant"}, {3, 1, 0, 0, 2, 0, 0, 0, 0}};
  CHECK(render_confusion(matrix) ==
        "accuracy of each class:\n"
        "  cat        75.00 %  3 of 4\n"
        "  dog       100.00 %  2 of 2\n"
        "  elephant  no images\n"
        "confusion matrix (row: class of the image, column: predicted class):\n"
        "              cat    dog  elephant\n"
        "  cat           3      1         0\n"
        "  dog           0      2         0\n"
        "  elephant      0      0         0\n");
}

TEST_CASE("confusion: of many classes the most frequent ones") {
  ConfusionMatrix matrix;
  for (int i = 0; i < 20; ++i) matrix.names.push_back("c" + std::to_string(i));
  matrix.counts.resize(400);
  matrix.counts[2 * 20 + 5] = 3;
  matrix.counts[4 * 20 + 1] = 7;
  CHECK(render_confusion(matrix).ends_with(
      "the most frequent confusions:\n  c4 predicted as c1: 7\n  c2 predicted as c5: 3\n"));
}

TEST_CASE("photos: a file is itself, a directory all images in it at any depth") {
  const TemporaryDirectory directory;
  for (const char* name : {"b/2.JPG", "a/1.png", "a/deep/3.ppm", "a/notes.txt"}) directory.write(name, "x");
  const std::string& here = directory.path;
  CHECK(find_photos("cat.jpg") == std::vector<std::string>{"cat.jpg"});
  CHECK(find_photos(here) ==
        std::vector<std::string>{here + "/a/1.png", here + "/a/deep/3.ppm", here + "/b/2.JPG"});
  directory.write("empty/notes.txt", "x");
  expect_error(ErrorKind::request, "the directory has no images", [&] { find_photos(here + "/empty"); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
