// SPDX-License-Identifier: MIT
#include "runtime/data/lmdb_source.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/image.hpp"
#include "runtime/data/lmdb_pages.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t sampled_records = 64;
// Labels lie between the images: more than this is not read just to count the classes.
constexpr std::size_t largest_scan = std::size_t{2} << 30;

Error refuse_lmdb(const std::string& path, std::string what) {
  return {ErrorKind::request, {std::move(what), printable(path), "mdb_stat " + quote_shell(path)}};
}

// "" for a path that is no LMDB at all.
std::string data_file_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  if (!S_ISDIR(status.st_mode)) return path;
  const std::string file = path + "/data.mdb";
  return stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? file : "";
}

std::string require_data_file(const std::string& path) {
  std::string file = data_file_of(path);
  if (file.empty()) throw refuse_lmdb(path, "data.mdb does not exist");
  return file;
}

// A file in memory as far as the kernel wants it there: what does not fit is read again from the disk, and
// all ranks of a host share one copy. Without locks: data sets do not change, and may lie where users may not
// write.
class FileMap {
 public:
  explicit FileMap(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0 || status.st_size == 0) {
      const int why = file < 0 ? errno : 0;
      if (file >= 0) close(file);
      throw refuse_lmdb(path, fmt::format("this LMDB cannot be opened: {}",
                                          why == 0 ? "the file is empty" : std::strerror(why)));
    }
    size_ = static_cast<std::size_t>(status.st_size);
    start_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    const int why = errno;
    close(file);
    if (start_ == MAP_FAILED)
      throw refuse_lmdb(path, fmt::format("{} bytes cannot be mapped: {}", size_, std::strerror(why)));
  }
  ~FileMap() { munmap(start_, size_); }
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  std::span<const std::uint8_t> bytes() const { return {static_cast<const std::uint8_t*>(start_), size_}; }

 private:
  void* start_ = MAP_FAILED;
  std::size_t size_ = 0;
};

class LmdbSource : public ImageSource {
 public:
  LmdbSource(const std::string& path, const DataRequest& request)
      : path_(path), map_(require_data_file(path)), entries_(parse_lmdb(map_.bytes(), path)) {
    if (entries_.empty()) throw refuse_lmdb(path, "the LMDB has no records");
    look_at_first(request);
    most_classes_ = request.classes;
    if (most_classes_ == 0 && !labels_in_memory()) most_classes_ = count_classes(*this);
  }

  std::size_t count() const override { return entries_.size(); }
  Shape shape() const override { return plan_.shape; }
  PixelKind pixels() const override { return floats_ ? PixelKind::floats : PixelKind::bytes; }
  bool labels_in_memory() const override { return map_.bytes().size() <= largest_scan; }
  std::string name(std::size_t index) const override {
    return fmt::format("{}, key {}", path_, printable(key(index), 80));
  }

  Label label(std::size_t index) const override {
    const std::string called = name(index);
    const Label found = datum_class(parse_datum(record(index), called), called);
    if (most_classes_ == 0 || found < most_classes_) return found;
    throw Error(ErrorKind::request,
                {fmt::format("the label is {}; with {} classes it must be less", found, most_classes_),
                 called, fmt::format("--classes {}", found + 1)});
  }

  std::span<const std::byte> view(std::size_t index) const override {
    if (encoded_ || floats_) return {};
    const Datum datum = checked(index);
    return std::as_bytes(datum.data);
  }

  void read(std::size_t index, std::span<std::byte> out) const override {
    const Datum datum = checked(index);
    if (encoded_) {
      decode_into(plan_, datum.data, name(index),
                  std::span(reinterpret_cast<std::uint8_t*>(out.data()), out.size()));
    } else if (floats_) {
      std::memcpy(out.data(), datum.float_data.data(), out.size());
    } else {
      std::memcpy(out.data(), datum.data.data(), out.size());
    }
  }

  // Keys, sizes, and some records; labels lie in the records, which a large set would have to be read for.
  std::uint64_t fingerprint() const override {
    std::uint64_t hash = hash_start;
    for (const LmdbRecord& entry : entries_) {
      hash = hash_bytes(std::as_bytes(std::span(entry.key, entry.key_size)), hash);
      hash = hash_bytes(std::as_bytes(std::span(&entry.value_size, 1)), hash);
    }
    const std::size_t asked = std::min(count(), sampled_records);
    for (std::size_t i = 0; i < asked; ++i)
      hash = hash_bytes(std::as_bytes(record(i * count() / asked)), hash);
    return hash;
  }

 private:
  std::span<const std::uint8_t> record(std::size_t index) const {
    return {entries_[index].value, entries_[index].value_size};
  }
  std::string_view key(std::size_t index) const {
    return {reinterpret_cast<const char*>(entries_[index].key), entries_[index].key_size};
  }

  void look_at_first(const DataRequest& request) {
    const std::string called = name(0);
    const Datum first = parse_datum(record(0), called);
    encoded_ = first.encoded;
    floats_ = !encoded_ && first.data.empty();
    if (encoded_) {
      const Shape head = read_image_shape(first.data, called);
      plan_ = plan_decode(request, head, head.channels == 1);
      return;
    }
    plan_.shape = {static_cast<int>(first.channels), static_cast<int>(first.height),
                   static_cast<int>(first.width)};
    if (request.resize.height > 0) {
      throw Error(ErrorKind::request,
                  {fmt::format("--resize applies to encoded images; these records are pixels of {}x{}x{}",
                               first.channels, first.height, first.width),
                   printable(path_), "the same command without --resize; or --crop"});
    }
  }

  // A record of the same kind and size as the first one.
  Datum checked(std::size_t index) const {
    const std::string called = name(index);
    Datum datum = parse_datum(record(index), called);
    const bool same = datum.encoded == encoded_ &&
                      (encoded_ || (datum.data.empty() == floats_ && datum.channels == plan_.shape.channels &&
                                    datum.height == plan_.shape.height && datum.width == plan_.shape.width));
    if (same) return datum;
    throw Error(ErrorKind::request,
                {fmt::format("this record is {}x{}x{}{}, but the first one is {}x{}x{}{}", datum.channels,
                             datum.height, datum.width, datum.encoded ? " encoded" : "", plan_.shape.channels,
                             plan_.shape.height, plan_.shape.width, encoded_ ? " encoded" : ""),
                 called, "ddl-train convert-data DIR NEW.lmdb --resize 256"});
  }

  std::string path_;
  FileMap map_;
  std::vector<LmdbRecord> entries_;
  DecodePlan plan_;
  bool encoded_ = false;
  bool floats_ = false;
  int most_classes_ = 0;
};

}  // namespace

bool is_lmdb(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) return !data_file_of(path).empty();
  return path.ends_with(".mdb");
}

SourcePtr open_lmdb(const std::string& path, const DataRequest& request) {
  return std::make_shared<LmdbSource>(path, request);
}

}  // namespace ddlrun::runtime
