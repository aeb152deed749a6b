// SPDX-License-Identifier: MIT
// Images at any depth of class directories, and which directories are classes.
#include "runtime/data/image_files.hpp"

#include "runtime/data/dataset.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/file_source.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/data/image_files");

// ImageFolder's order is that of Python's sorted(os.walk(DIRECTORY, followlinks=True)), by which it reads.
TEST_CASE("class directories: images at any depth and behind links, in ImageFolder's order") {
  const TemporaryDirectory directory;
  const Bytes image = write_png(make_image(1, 4, 5));
  for (const char* name :
       {"train/cat/a/deep/3.png", "train/cat/a/1.png", "train/cat/a-b/0.png", "train/cat/2.png",
        "train/cat/.thumbnails/7.png", "train/dog/s1/5.png", "val/cat/s1/1.png", "elsewhere/9.png"})
    directory.write(name, image);
  const std::string train = directory.path + "/train";
  std::filesystem::create_symlink("../../elsewhere", train + "/cat/z");
  std::filesystem::create_symlink("../..", train + "/cat/a/deep/up");  // cat itself, without end
  const FileList list = scan_class_directories(train, {});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.count(); ++i) names.emplace_back(list.name(i));
  CHECK(names == std::vector<std::string>{"cat/2.png", "cat/a/1.png", "cat/a-b/0.png", "cat/a/deep/3.png",
                                          "cat/z/9.png", "dog/s1/5.png"});
  const Dataset data = load_dataset(directory.path);
  CHECK(data.classes == 2);
  CHECK(data.train_images->count() == 6);
  CHECK(data.test_images->count() == 1);
}

TEST_CASE("class directories: photos/training and photos/testing are no classes") {
  const TemporaryDirectory directory;
  const Bytes image = write_png(make_image(1, 4, 5));
  for (const char* name : {"photos/training/cat/1.png", "photos/testing/cat/1.png", "plain/cat/s1/1.png",
                           "plain/dog/s1/1.png", "direct/test/1.png"})
    directory.write(name, image);
  CHECK_FALSE(is_class_root(directory.path + "/photos"));
  CHECK(is_class_root(directory.path + "/photos/training"));
  CHECK(is_class_root(directory.path + "/plain"));
  CHECK(is_class_root(directory.path + "/direct"));  // a class that is called test
  expect_error(ErrorKind::request, "no images found here, only testing, training",
               [&] { load_dataset(directory.path + "/photos"); });
}

TEST_CASE("all damaged images are found, not only the first") {
  const TemporaryDirectory directory;
  const Bytes image = write_png(make_image(1, 4, 5));
  directory.write("cat/1.png", image);
  directory.write("cat/2.png", Bytes(image.begin(), image.begin() + 30));
  directory.write("cat/3.png", Bytes());
  directory.write("cat/4.png", write_png(make_image(1, 8, 8)));  // another size is no damage
  const std::vector<Message> damaged = find_damaged(scan_class_directories(directory.path, {}));
  REQUIRE(damaged.size() == 2);
  CHECK(damaged[0].where == directory.path + "/cat/2.png");
  CHECK(damaged[1].what == "the file is empty");
}

TEST_CASE("names of classes beside an LMDB have no slash, by which checkpoints join them") {
  const TemporaryDirectory directory;
  directory.write("classes.txt", std::string("cat\n\ndog\n"));
  CHECK(read_class_names(directory.path) == std::vector<std::string>{"cat", "dog"});
  directory.write("classes.txt", std::string("T-shirt/top\n"));
  expect_error(ErrorKind::request, "\"T-shirt/top\" has a slash", [&] { read_class_names(directory.path); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
