// SPDX-License-Identifier: MIT
// A directory that may not be read is an error wherever images are looked for, never fewer images.
#include "runtime/data/directory_entries.hpp"

#include "runtime/app/predict_photos.hpp"
#include "runtime/data/class_findings.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_list.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"
#include "tests/unit/runtime/without_root.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ddlrun::runtime {
namespace {

// Two classes with images to train and to test on, which all may read.
struct Photos {
  Photos() {
    for (const char* name : {"train/boots/1.png", "train/boots/more/2.png", "train/hats/1.png",
                             "val/boots/1.png", "val/hats/1.png"})
      directory.write(name, write_png(make_image(1, 4, 5)));
    chmod(directory.path.c_str(), 0755);
  }
  // One of its directories that only root may read.
  std::string lock(const std::string& name) const {
    std::string path = name.empty() ? directory.path : directory.path + "/" + name;
    chmod(path.c_str(), 0);
    locked = path;
    return path;
  }
  ~Photos() { chmod(locked.c_str(), 0755); }
  TemporaryDirectory directory;
  mutable std::string locked;
};

void expect_denied(const std::string& path, const std::function<void()>& work) {
  const WithoutRoot rights;
  const Message message = expect_error(ErrorKind::request, "cannot be ", work);
  CHECK(message.what.find("Permission denied") != std::string::npos);
  CHECK(message.where == path);
  CHECK(message.hint.find("chmod -R u+rX " + path) != std::string::npos);
}

}  // namespace

TEST_SUITE_BEGIN("runtime/data/directory_entries");

TEST_CASE("no training on the images of the directories that may be read") {
  for (const char* name : {"", "train", "train/boots", "train/boots/more", "train/hats", "val/hats", "val"}) {
    CAPTURE(name);
    const Photos photos;
    const std::string path = photos.lock(name);
    expect_denied(path, [&] { load_dataset(photos.directory.path); });
  }
}

TEST_CASE("neither findings nor predictions count what is in a directory that may not be read") {
  const Photos photos;
  const std::string root = photos.directory.path;
  CHECK(check_class_directories(root + "/train", root + "/val").size() == 1);  // hats: one image
  const std::string path = photos.lock("train/boots/more");
  expect_denied(path, [&] { check_class_directories(root + "/train", ""); });
  expect_denied(path, [&] { find_photos(root); });
  expect_denied(path, [&] { list_files(require_split(root, false), {}, {}); });
  chmod(root.c_str(), 0);
  expect_denied(root, [&] { find_photos(root); });
  expect_denied(root, [&] { require_split(root + "/train", false); });
  chmod(root.c_str(), 0755);
}

TEST_CASE("a link that leads nowhere or in a circle is an error; one to its own directory is none") {
  const Photos photos;
  const std::string root = photos.directory.path;
  std::filesystem::create_symlink("../boots", root + "/train/boots/up");
  CHECK(load_dataset(root).train_images->count() == 3);
  std::filesystem::create_symlink("/no/such/monday", root + "/train/boots/monday");
  const Message nowhere = expect_error(ErrorKind::request, "No such file", [&] { load_dataset(root); });
  CHECK(nowhere.where == root + "/train/boots/monday");
  std::filesystem::remove(nowhere.where);
  std::filesystem::create_symlink("circle", root + "/train/circle");
  const Message circle = expect_error(ErrorKind::request, "symbolic links", [&] { load_dataset(root); });
  CHECK(circle.where == root + "/train/circle");
}

TEST_CASE("hidden directories and a disk's lost+found are not looked into") {
  const Photos photos;
  for (const char* name : {".cache", "lost+found"}) {
    photos.directory.write("train/" + std::string(name) + "/1.png", std::string("x"));
    chmod((photos.directory.path + "/train/" + name).c_str(), 0);
  }
  {
    const WithoutRoot rights;
    CHECK(load_dataset(photos.directory.path).classes == 2);
  }
  CHECK(list_entries(photos.directory.path + "/none").empty());
}

TEST_CASE("paths of images have one slash between directories, also where the data's path ends with one") {
  const Photos photos;
  const std::string root = photos.directory.path;
  const SplitPath place = require_split(root + "/", true);
  CHECK(list_files(place, {}, {}).path(0) == root + "/val/boots/1.png");
  const SplitPath plain = require_split(root + "/train/", false);
  CHECK(list_files(plain, {}, {}).path(0) == root + "/train/boots/1.png");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
