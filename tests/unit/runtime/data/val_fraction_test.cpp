// SPDX-License-Identifier: MIT
// Photos in one tree: --val-fraction, and the errors without it.
#include "runtime/data/class_findings.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/file_list.hpp"
#include "tests/unit/runtime/data/encoded_images.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/data/val_fraction");

TEST_CASE("photos without class directories are counted, not denied") {
  const TemporaryDirectory directory;
  for (const char* name : {"1.JPG", "2.png", "notes.txt"}) directory.write(name, std::string("x"));
  const Message unsorted =
      expect_error(ErrorKind::request, "2 photos lie here without directories for their classes",
                   [&] { load_dataset(directory.path); });
  CHECK(unsorted.where == directory.path);
  CHECK(unsorted.hint.starts_with("mkdir -p " + directory.path + "/train/CLASS " + directory.path +
                                  "/val/CLASS "));
}

TEST_CASE("--val-fraction divides one tree by the hash of names") {
  const TemporaryDirectory directory;
  const Bytes image = write_png(make_image(1, 4, 5));
  for (int i = 0; i < 40; ++i)
    for (const char* name : {"cat", "dog"}) directory.write(fmt::format("tree/{}/{}.png", name, i), image);
  const std::string tree = directory.path + "/tree";
  DataRequest request;
  request.train = tree;
  request.val_fraction = 0.25;
  const Dataset data = load_dataset(request);
  CHECK(data.train_images->count() + data.test_images->count() == 80);
  CHECK(data.test_images->count() > 8);
  CHECK(data.test_images->count() < 32);
  CHECK(data.warnings.empty());
  const FileList all = scan_class_directories(tree, {});
  const FileList tests = all.part(0.25, true), rest = all.part(0.25, false);
  const auto has = [](const FileList& list, std::string_view name) {
    for (std::size_t i = 0; i < list.count(); ++i)
      if (list.name(i) == name) return true;
    return false;
  };
  for (std::size_t i = 0; i < all.count(); ++i) CHECK(has(tests, all.name(i)) != has(rest, all.name(i)));
  // The tree under another name, with another file: no file changes sides.
  std::filesystem::rename(tree, directory.path + "/moved");
  directory.write("moved/cat/more.png", image);
  const FileList moved = scan_class_directories(directory.path + "/moved", {}).part(0.25, true);
  for (std::size_t i = 0; i < tests.count(); ++i) CHECK(has(moved, tests.name(i)));
  CHECK(moved.count() <= tests.count() + 1);
  FileList few("photos");
  few.add("cat/1.png", 0);
  expect_error(ErrorKind::request, "leaves no training image of the class \"0\"",
               [&] { few.part(0.9999999, false); });
  expect_error(ErrorKind::request, "leaves no test image of 1", [&] { few.part(0.0000001, true); });
  directory.write("both/train/cat/1.png", image);
  directory.write("both/val/cat/1.png", image);
  request.train = directory.path + "/both";
  expect_error(ErrorKind::request, "--val-fraction is given, but there are test images",
               [&] { load_dataset(request); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
