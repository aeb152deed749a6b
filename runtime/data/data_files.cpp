// SPDX-License-Identifier: MIT
// The parts of data_place.hpp and dataset.hpp that read files.
#include "base/os/plugin.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/gzip.hpp"
#include "runtime/core/path.hpp"
#include "runtime/data/cifar.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/idx.hpp"
#include "runtime/data/lmdb_source.hpp"
#include "runtime/data/synthetic.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace ddlrun::runtime {
namespace {

constexpr const char* debian_set = "/usr/share/datasets/fashion-mnist";
constexpr const char* installed_subset = "share/ddlrun/data/fashion-mnist-subset";
constexpr const char* source_subset = "tests/data/fashion-mnist-subset";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string require_file(const std::string& directory, const std::string& part, const std::string& kind) {
  std::string path = find_idx_file(directory, part, kind);
  if (!path.empty()) return path;
  throw Error(ErrorKind::request,
              {fmt::format("{}-{}-{}-ubyte[.gz] is missing; a data directory needs 4 such files", part, kind,
                           kind == "images" ? "idx3" : "idx1"),
               printable(directory), "ls " + quote_shell(directory)});
}

std::vector<std::uint8_t> read_idx(const std::string& path, std::size_t dimensions) {
  return read_data_file(path, max_data_bytes,
                        [&](std::span<const std::uint8_t> head) { return idx_size(head, dimensions, path); });
}

ImageSet load_idx(const SplitPath& place) {
  const std::string part = place.test ? "t10k" : "train";
  const std::string images = require_file(place.path, part, "images");
  const std::string labels = require_file(place.path, part, "labels");
  return make_image_set(read_idx(images, 3), read_idx(labels, 1), images, labels);
}

ImageSet load_cifar(const SplitPath& place) {
  ImageSet set;
  const bool ten = place.kind == DataKind::cifar10;
  const CifarKind kind = ten ? CifarKind::ten : CifarKind::hundred;
  std::vector<std::string> names{place.test ? "test.bin" : "train.bin"};
  if (ten && place.test) names = {"test_batch.bin"};
  if (ten && !place.test) {
    names.clear();
    for (int i = 1; i <= 5; ++i) {  // a part of them will do
      std::string name = fmt::format("data_batch_{}.bin", i);
      if (exists(join_path(place.path, name))) names.push_back(std::move(name));
    }
  }
  for (const std::string& name : names) {
    const std::string path = join_path(place.path, name);
    append_cifar(read_data_file(path), kind, path, set);
  }
  return set;
}

// Names are meant from the list's own directory; as Caffe does, from the working directory where nothing is
// there.
FileList read_list(const std::string& path, const DataRequest& request) {
  const std::vector<std::uint8_t> bytes = read_data_file(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!request.root.empty()) return parse_file_list(text, path, request.root);
  const std::size_t slash = path.rfind('/');
  FileList beside = parse_file_list(text, path, slash == std::string::npos ? "" : path.substr(0, slash));
  if (exists(beside.path(0)) || !exists(std::string(beside.name(0)))) return beside;
  return parse_file_list(text, path, "");
}

bool holds_data(const std::string& directory) { return !find_idx_file(directory, "train", "images").empty(); }

// Beside the program: PREFIX/bin/ddl-train has PREFIX/share; a build tree has the source tree above it.
std::string find_subset() {
  std::string base = own_program_file();
  for (int up = 0; up < 5 && !base.empty(); ++up) {
    base.resize(base.rfind('/') == std::string::npos ? 0 : base.rfind('/'));
    for (const char* place : {installed_subset, source_subset}) {
      if (holds_data(base + "/" + place)) return base + "/" + place;
    }
  }
  return "";
}

// The names that convert-data wrote beside an LMDB. Those of test images must be those of the training.
void name_classes(const std::string& directory, ClassDirectories& classes) {
  const std::vector<std::string> names = read_class_names(directory);
  if (names.empty() || names == classes.names) return;
  if (classes.names.empty()) {
    classes = {directory, names};
    return;
  }
  throw Error(ErrorKind::request, {"the classes of the test images are not those of the training: " +
                                       printable(join(names, ", "), 300) + " instead of " +
                                       printable(join(classes.names, ", "), 300),
                                   printable(directory), "cat " + quote_shell(directory + "/classes.txt")});
}

}  // namespace

std::string find_idx_file(const std::string& directory, const std::string& part, const std::string& kind) {
  for (const char* separator : {"-", "."}) {
    for (const char* suffix : {"", ".gz"}) {
      std::string path = join_path(directory, fmt::format("{}-{}{}{}-ubyte{}", part, kind, separator,
                                                          kind == "images" ? "idx3" : "idx1", suffix));
      if (exists(path)) return path;
    }
  }
  return "";
}

FileList list_files(const SplitPath& place, const DataRequest& request, const ClassDirectories& classes) {
  FileList all = place.kind == DataKind::list ? read_list(place.path, request)
                                              : scan_class_directories(place.path, classes);
  return request.val_fraction > 0.0 ? all.part(request.val_fraction, place.test) : all;
}

SourcePtr open_split(const SplitPath& place, const DataRequest& request, ClassDirectories& classes) {
  switch (place.kind) {
    case DataKind::idx:
      return make_memory_source(load_idx(place), place.path);
    case DataKind::cifar10:
    case DataKind::cifar100:
      return make_memory_source(load_cifar(place), place.path);
    case DataKind::synthetic:
      return make_memory_source(generate_synthetic(place.path, place.test), place.path);
    case DataKind::lmdb:
      name_classes(place.path, classes);
      return cache_if_small(open_lmdb(place.path, request), request.memory);
    case DataKind::list:
    case DataKind::directories: {
      FileList list = list_files(place, request, classes);
      if (place.kind == DataKind::directories) classes = list.classes;
      return cache_if_small(make_file_source(std::move(list), request), request.memory);
    }
  }
  return nullptr;
}

DatasetPath find_data(const std::string& asked) {
  if (!asked.empty()) return {asked, "--data"};
  const char* variable = std::getenv("DDLRUN_DATA");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (variable != nullptr && *variable != '\0') return {variable, "DDLRUN_DATA"};
  if (holds_data(debian_set)) return {debian_set, "Debian's dataset-fashion-mnist"};
  const std::string subset = find_subset();
  if (!subset.empty()) return {subset, "the 1,000-image subset that comes with ddlrun"};
  throw Error(ErrorKind::request,
              {"no images found: --data and DDLRUN_DATA are not set, and neither default directory exists",
               fmt::format("{} and PREFIX/{}", debian_set, installed_subset),
               "apt-get install dataset-fashion-mnist"});
}

}  // namespace ddlrun::runtime
