// SPDX-License-Identifier: MIT
// The part of dataset.hpp that touches files: names, places, reading.
#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/dataset.hpp"
#include "runtime/gzip.hpp"
#include "runtime/synthetic.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

namespace ddlrun::runtime {
namespace {

constexpr const char* debian_set = "/usr/share/datasets/fashion-mnist";
constexpr const char* installed_subset = "share/ddlrun/data/fashion-mnist-subset";
constexpr const char* source_subset = "tests/data/fashion-mnist-subset";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The first spelling that exists, or "".
std::string find_file(const std::string& directory, const std::string& part, const std::string& kind) {
  for (const char* separator : {"-", "."}) {
    for (const char* suffix : {"", ".gz"}) {
      std::string path = fmt::format("{}/{}-{}{}{}-ubyte{}", directory, part, kind, separator,
                                     kind == "images" ? "idx3" : "idx1", suffix);
      if (exists(path)) return path;
    }
  }
  return "";
}

std::string require_file(const std::string& directory, const std::string& part, const std::string& kind) {
  std::string path = find_file(directory, part, kind);
  if (!path.empty()) return path;
  throw Error(ErrorKind::request,
              {fmt::format("{}-{}-{}-ubyte[.gz] is missing; a data directory holds 4 such files", part, kind,
                           kind == "images" ? "idx3" : "idx1"),
               printable(directory), "ls " + quote_shell(directory)});
}

ImageSet load_set(const std::string& directory, const std::string& part) {
  const std::string images = require_file(directory, part, "images");
  const std::string labels = require_file(directory, part, "labels");
  return make_image_set(read_data_file(images), read_data_file(labels), images, labels);
}

bool holds_data(const std::string& directory) { return !find_file(directory, "train", "images").empty(); }

// Beside the program: PREFIX/bin/ddl-train has PREFIX/share; a build tree has the source tree above it.
std::string find_subset() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  if (length <= 0) return "";
  std::string base(buffer.data(), static_cast<std::size_t>(length));
  for (int up = 0; up < 5 && !base.empty(); ++up) {
    base.resize(base.rfind('/') == std::string::npos ? 0 : base.rfind('/'));
    for (const char* place : {installed_subset, source_subset}) {
      if (holds_data(base + "/" + place)) return base + "/" + place;
    }
  }
  return "";
}

}  // namespace

Dataset load_dataset(const std::string& directory) {
  if (is_synthetic(directory)) return make_synthetic(directory);
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::request, {"the data directory does not exist", printable(directory),
                                     "ls -ld " + quote_shell(directory)});
  }
  ImageSet train = load_set(directory, "train");
  return make_dataset(std::move(train), load_set(directory, "t10k"), directory);
}

DataPlace find_data(const std::string& asked) {
  if (!asked.empty()) return {asked, "--data"};
  const char* variable = std::getenv("DDLRUN_DATA");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (variable != nullptr && *variable != '\0') return {variable, "DDLRUN_DATA"};
  if (holds_data(debian_set)) return {debian_set, "Debian's dataset-fashion-mnist"};
  const std::string subset = find_subset();
  if (!subset.empty()) return {subset, "the 1,000-image subset that comes with ddlrun"};
  throw Error(
      ErrorKind::request,
      {"no images found: --data and DDLRUN_DATA are not set, and neither of the 2 usual places has them",
       fmt::format("{} and PREFIX/{}", debian_set, installed_subset),
       "apt-get install dataset-fashion-mnist"});
}

}  // namespace ddlrun::runtime
