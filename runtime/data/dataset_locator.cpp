// SPDX-License-Identifier: MIT
#include "runtime/data/dataset_locator.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/path.hpp"
#include "runtime/data/directory_entries.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_files.hpp"
#include "runtime/data/lmdb_source.hpp"
#include "runtime/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>

namespace ddlrun::runtime {
namespace {

std::vector<std::string> list_names(const std::string& directory) {
  std::vector<std::string> names;
  for (DirectoryEntry& entry : list_entries(directory)) names.push_back(std::move(entry.name));
  return names;
}

// Whether the first line has the form "path label".
bool is_list(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> start{};
  file.read(start.data(), start.size());
  const std::string_view text(start.data(), static_cast<std::size_t>(file.gcount()));
  return text.find('\0') == std::string_view::npos && text.find(' ') != std::string_view::npos;
}

// The words by which people name the two parts.
const std::array<std::string, 1> train_args{"train"};
const std::array<std::string, 2> test_args{"test", "val"};

// LMDBs beside each other, as Caffe's examples make them: mnist_train_lmdb and mnist_test_lmdb.
std::string find_lmdb_in(const std::string& directory, bool test) {
  for (const std::string& name : list_names(directory)) {
    const bool fits = test ? name.find("test") != std::string::npos || name.find("val") != std::string::npos
                           : name.find("train") != std::string::npos;
    if (fits && is_directory(join_path(directory, name)) && is_lmdb(join_path(directory, name)))
      return join_path(directory, name);
  }
  return "";
}

// Whether any of the four files exists: then the error names the missing ones.
bool holds_idx(const std::string& directory) {
  for (const char* part : {"train", "t10k"}) {
    for (const char* kind : {"images", "labels"}) {
      if (!find_idx_file(directory, part, kind).empty()) return true;
    }
  }
  return false;
}

std::optional<SplitPath> inspect_directory(const std::string& directory, bool test) {
  require_search(directory);
  if (is_lmdb(directory)) return SplitPath{DataKind::lmdb, directory, test};
  if (holds_idx(directory)) return SplitPath{DataKind::idx, directory, test};
  for (const std::string& place : {directory, join_path(directory, "cifar-10-batches-bin")}) {
    if (is_file(join_path(place, "data_batch_1.bin"))) return SplitPath{DataKind::cifar10, place, test};
  }
  for (const std::string& place : {directory, join_path(directory, "cifar-100-binary")}) {
    if (is_file(join_path(place, "train.bin"))) return SplitPath{DataKind::cifar100, place, test};
  }
  const std::string lmdb = find_lmdb_in(directory, test);
  if (!lmdb.empty()) return SplitPath{DataKind::lmdb, lmdb, test};
  const bool two_lists = is_file(join_path(directory, "train.txt"));
  const bool two_directories = !find_class_directories(join_path(directory, "train")).empty();
  for (const std::string& word :
       test ? std::span<const std::string>(test_args) : std::span<const std::string>(train_args)) {
    if (two_lists && is_file(join_path(directory, word + ".txt")))
      return SplitPath{DataKind::list, join_path(directory, word + ".txt"), test};
    if (two_directories && is_directory(join_path(directory, word)))
      return SplitPath{DataKind::directories, join_path(directory, word), test};
  }
  if (!two_lists && !two_directories && is_class_root(directory))
    return SplitPath{DataKind::directories, directory, test};
  return std::nullopt;
}

// "x/mnist_train_lmdb" -> "x/mnist_test_lmdb" if that is there; "" if not.
std::string find_sibling(const std::string& path) {
  const std::size_t slash = path.rfind('/', path.size() - 2);
  const std::size_t at = path.rfind("train");
  if (at == std::string::npos || (slash != std::string::npos && at < slash)) return "";
  for (const std::string& word : test_args) {
    std::string other = path;
    other.replace(at, 5, word);
    if (is_file(other) || is_directory(other)) return other;
  }
  return "";
}

// How the test images of such a set can be given.
const char* hint_test(DataKind kind) {
  switch (kind) {
    case DataKind::directories:
      return "--test-data PATH   # or --data DIR with DIR/train/CLASS/*.jpg and DIR/val/CLASS/*.jpg";
    case DataKind::list:
      return "--test-data PATH   # or --data DIR with DIR/train.txt and DIR/val.txt";
    case DataKind::lmdb:
      return "--test-data PATH   # or name them photos_train_lmdb and photos_test_lmdb, beside each other; "
             "made "
             "with: ddl-train convert-data --split test";
    default:
      return "--test-data PATH";
  }
}

// A directory beside the training images whose name differs from val and test only in case or a few letters.
std::string find_near_test(const std::string& directory) {
  for (const std::string& name : list_names(directory)) {
    const std::string small = to_lower(name);
    if (small.size() < 3 || !is_directory(join_path(directory, name))) continue;
    for (const char* start : {"val", "test", "eval", "dev"})
      if (small.starts_with(start)) return name;
  }
  return "";
}

// Of images beside which no test images are.
Error refuse_untested(const SplitPath& train, const std::string& data) {
  if (train.kind != DataKind::directories)
    return {ErrorKind::request,
            {fmt::format("no test images were found beside the training images ({})", name_of(train.kind)),
             printable(data), hint_test(train.kind)}};
  const std::string root = train.path == data ? directory_of(data) : data;
  const std::string near = find_near_test(root);
  constexpr const char* divide =
      "--val-fraction 0.2   # tests on a fifth of them, and trains on the others; or --test-data PATH";
  if (train.path == data && near.empty()) {
    const std::vector<std::string> classes = find_class_directories(data);
    return {ErrorKind::request,
            {fmt::format(
                 "these are taken for training images of {} classes ({}), without test images beside them",
                 classes.size(), printable(join_first(classes, 8), 200)),
             printable(data), divide}};
  }
  const std::string what =
      fmt::format("there is no directory of test images: {} has neither val/ nor test/{}", printable(root),
                  near.empty() ? "" : "; did you mean " + near + "?");
  return {
      ErrorKind::request,
      {what, printable(data), near.empty() ? divide : "--test-data " + quote_shell(join_path(root, near))}};
}

// Photos that lie side by side: their classes are not known.
Error refuse_unsorted(const std::string& path, std::size_t photos) {
  const std::string root = quote_shell(path);
  return {
      ErrorKind::request,
      {fmt::format("{} here without directories for their classes",
                   photos == 1 ? std::string("1 photo lies") : fmt::format("{} photos lie", photos)),
       printable(path),
       fmt::format("mkdir -p {0}/train/CLASS {0}/val/CLASS   # for each class, and move its photos there; or "
                   "--data LIST with a line for each photo: its path and a number for its class",
                   root)}};
}

Error refuse_place(const std::string& path) {
  constexpr std::size_t most_shown = 8;
  if (kind_of(path) == EntryKind::none) {
    return {ErrorKind::request,
            {is_synthetic(path) ? "no such images" : "the data directory or file does not exist",
             printable(path), "ls -ld " + quote_shell(path)}};
  }
  if (!is_directory(path)) {
    return {ErrorKind::request,
            {"this file is neither an LMDB nor a list of images and classes (\"path label\" a line)",
             printable(path), "--data DIR   # with images, or with the files of a data set"}};
  }
  std::vector<std::string> names = list_names(path);
  const auto photos = static_cast<std::size_t>(std::ranges::count_if(names, has_image_name));
  if (photos > 0) return refuse_unsorted(path, photos);
  for (std::string& name : names) name = printable(name, 40);
  const std::string what = names.empty() ? "no images found: the directory is empty"
                                         : "no images found here, only " + join_first(names, most_shown);
  return {
      ErrorKind::request,
      {what, printable(path),
       "--data DIR with MNIST's IDX files, CIFAR's *.bin, train/CLASS/*.jpg and val/CLASS/*.jpg, train.txt "
       "and val.txt, or Caffe's LMDBs"}};
}

// One tree or list that --val-fraction splits.
DatasetPaths divide_split(const SplitPath& train, const DataRequest& request) {
  if (!is_in_files(train.kind))
    throw Error(
        ErrorKind::request,
        {fmt::format("--val-fraction divides photos in directories or lists, not {}", name_of(train.kind)),
         printable(request.train), "the same command without --val-fraction"});
  const auto own = train.path == request.train ? std::nullopt : detect_split(request.train, true);
  if (own && own->path != train.path)
    throw Error(
        ErrorKind::request,
        {"--val-fraction is given, but there are test images", printable(own->path),
         fmt::format("the same command without --val-fraction; or --data {} with it, for the training "
                     "images alone",
                     quote_shell(train.path))});
  return {train, {train.kind, train.path, true}};
}

}  // namespace

const char* name_of(DataKind kind) {
  switch (kind) {
    case DataKind::idx:
      return "MNIST's IDX files";
    case DataKind::cifar10:
      return "CIFAR-10's binary files";
    case DataKind::cifar100:
      return "CIFAR-100's binary files";
    case DataKind::lmdb:
      return "Caffe's LMDB";
    case DataKind::list:
      return "a list of files";
    case DataKind::directories:
      return "a directory for each class";
    case DataKind::synthetic:
      return "random numbers";
  }
  return "";
}

bool is_in_files(DataKind kind) { return kind == DataKind::directories || kind == DataKind::list; }

std::optional<SplitPath> detect_split(const std::string& path, bool test) {
  if (is_synthetic(path)) return SplitPath{DataKind::synthetic, path, test};
  if (is_directory(path)) return inspect_directory(path, test);
  if (!is_file(path)) return std::nullopt;
  if (is_lmdb(path)) return SplitPath{DataKind::lmdb, path, test};
  if (is_list(path)) return SplitPath{DataKind::list, path, test};
  return std::nullopt;
}

SplitPath require_split(const std::string& path, bool test) {
  const auto place = detect_split(path, test);
  if (!place) throw refuse_place(path);
  return *place;
}

DatasetPaths locate_splits(const DataRequest& request) {
  const SplitPath train = require_split(request.train, false);
  if (request.val_fraction > 0.0) return divide_split(train, request);
  if (!request.test.empty()) return {train, require_split(request.test, true)};
  const bool alone = train.path == request.train && (train.kind == DataKind::lmdb || is_in_files(train.kind));
  const std::string beside = alone ? find_sibling(request.train) : request.train;
  const auto test = beside.empty() ? std::nullopt : detect_split(beside, true);
  if (test) return {train, *test};
  throw refuse_untested(train, request.train);
}

}  // namespace ddlrun::runtime
