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
        "accuracy (recall), precision and F1 of each class:\n"
        "  cat        75.00 %  100.00 %   85.71 %  3 of 4\n"
        "  dog       100.00 %   66.67 %   80.00 %  2 of 2\n"
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

TEST_CASE("a checkpoint is tested on the data of its training, unless others are named") {
  const TemporaryDirectory directory;
  SavedModel model;
  CHECK(find_test_data("photos", model).directory == "photos");
  expect_error(ErrorKind::request, "does not name the data", [&] { find_test_data("", model); });
  model.test_data = directory.path;
  CHECK(find_test_data("", model).directory == directory.path);
  CHECK(find_test_data("", model).reason == "the data of the checkpoint's training");
  model.test_data = directory.path + "/gone";
  CHECK(expect_error(ErrorKind::request, "training are not here", [&] { find_test_data("", model); }).where ==
        model.test_data);
}

TEST_CASE("photos: a file is itself, a directory all images in it at any depth") {
  const TemporaryDirectory directory;
  for (const char* name : {"b/2.JPG", "a/1.png", "a/deep/3.ppm", "a/notes.txt"}) directory.write(name, "x");
  const std::string& here = directory.path;
  CHECK(find_photos("cat.jpg").photos == std::vector<std::string>{"cat.jpg"});
  CHECK(find_photos(here).photos ==
        std::vector<std::string>{here + "/a/1.png", here + "/a/deep/3.ppm", here + "/b/2.JPG"});
  CHECK(find_photos(here).unread.empty());
  directory.write("empty/notes.txt", "x");
  expect_error(ErrorKind::request, "the directory has no images", [&] { find_photos(here + "/empty"); });
  for (const char* name : {"a/4.webp", "a/5.tif", "b/6.HEIC", "b/7.gif"}) directory.write(name, "x");
  const FoundPhotos found = find_photos(here + "/");
  CHECK(found.photos.size() == 3);
  REQUIRE(found.unread.size() == 4);
  const Message unread = describe_unread_photos(here, found.unread);
  CHECK(unread.what == "4 images are of formats that are not read: 4.webp, 5.tif, 6.HEIC and 1 more");
  CHECK(unread.hint.starts_with("mogrify -format png " + here + "/a/*.tif " + here + "/a/*.webp "));
  directory.write("only/1.webp", "x");
  expect_error(ErrorKind::request, "1 image is of formats that are not read: 1.webp",
               [&] { find_photos(here + "/only"); });
}

TEST_CASE("a net with more outputs than the training had classes") {
  SavedModel model;
  model.net.classes = 4;
  model.class_names = {"cat", "dog"};
  const std::vector<float> logits{1, 2, 30, 40, 5, 6, 70, 80};  // of two images
  CHECK(model.of_classes(logits) == std::vector<float>{1, 2, 5, 6});
  const std::vector<ClassShare> ranked = rank_classes(model, {0.25, 0.75}, 10);
  REQUIRE(ranked.size() == 2);
  CHECK(ranked[0].name == "dog");
  CHECK(rank_classes(model, {0.25, 0.75}, 1).size() == 1);
}

TEST_CASE("predictions as CSV: RFC 4180") {
  SavedModel model;
  model.class_names = {"cat", "dog, \"small\""};
  CHECK(render_csv_header(model) == "file,class,probability,directory_class,cat,\"dog, \"\"small\"\"\"");
  CHECK(render_prediction_csv(model, "my,cat.jpg", {0.25, 0.75}) ==
        "\"my,cat.jpg\",\"dog, \"\"small\"\"\",0.75,,0.25,0.75");
  CHECK(render_prediction_csv(model, "val/cat/monday/1.jpg", {0.25, 0.75}).find(",0.75,cat,0.25") !=
        std::string::npos);
  CHECK(render_prediction_csv(model, "val/cow/cat", {1, 0}) == "val/cow/cat,cat,1,,1,0");
}

TEST_CASE("a test as JSON: accuracy of each class, and the matrix") {
  const CheckpointTest test{"photos", 6, 0.75, 0.5, {{"cat", "dog"}, {3, 1, 0, 0}}, {}};
  CHECK(
      render_test_json(test) ==
      R"({"schema":"ddl-train.test/1","data":"photos","images":6,"accuracy":0.75,"loss":0.5,)"
      R"("classes":[{"name":"cat","images":4,"correct":3,"accuracy":0.75,"precision":1.0,"f1":0.8571428571428571},)"
      R"({"name":"dog","images":0,"correct":0,"accuracy":null,"precision":0.0,"f1":null}],"confusion":[[3,1],[0,0]]})");
}

// The closed forms of scikit-learn's precision_recall_fscore_support, of [0,0,0,0,1,1] and [0,0,0,1,1,0].
TEST_CASE("precision, recall and F1 of each class, and the images with a wrong prediction") {
  const ConfusionMatrix matrix{{"cat", "dog", "cow"}, {3, 1, 0, 1, 1, 0, 0, 0, 0}};
  CHECK(*matrix.precision(0) == doctest::Approx(0.75));
  CHECK(*matrix.recall(0) == doctest::Approx(0.75));
  CHECK(*matrix.f1(0) == doctest::Approx(0.75));
  CHECK(*matrix.precision(1) == doctest::Approx(0.5));
  CHECK(*matrix.f1(1) == doctest::Approx(0.5));
  CHECK_FALSE(matrix.precision(2));
  CHECK_FALSE(matrix.f1(2));
  CHECK(render_wrong({{"val/cat/1.jpg", "cat", "dog", 0.875}}) ==
        "images with a wrong prediction:\n  val/cat/1.jpg: cat, predicted as dog (87.5 %)\n");
  CHECK(render_wrong({}) == "no image has a wrong prediction\n");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
