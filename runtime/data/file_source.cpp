// SPDX-License-Identifier: MIT
#include "runtime/data/file_source.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/data/image.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t sampled_files = 64;
constexpr std::size_t surveyed_files = 2000;      // about 30 us each on a local disk
constexpr std::size_t header_bytes = 32U << 10U;  // most headers are within; a camera's preview can be longer
constexpr std::size_t largest_image_file = std::size_t{512} << 20U;

Error refuse_image_file(const std::string& path, std::string what) {
  return {ErrorKind::request, {std::move(what), printable(path), "ls -l " + quote_shell(path)}};
}

// Plain calls, for this is done for every image: a stream would cost as much as reading a small image.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : handle(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (handle >= 0) close(handle);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int handle;
};

// The first `most` bytes, or all of a smaller file. Returns whether that is the whole file.
bool read_image_file(const std::string& path, std::vector<std::uint8_t>& bytes,
                     std::size_t most = largest_image_file) {
  const OpenFile file(path);
  struct stat status {};
  if (file.handle < 0 || fstat(file.handle, &status) != 0)
    throw refuse_image_file(path, fmt::format("the image cannot be read: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) throw refuse_image_file(path, "this is not a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > largest_image_file)
    throw refuse_image_file(path,
                            fmt::format("the image has {} bytes; the limit is {}", size, largest_image_file));
  bytes.resize(std::min(size, most));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file.handle, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw refuse_image_file(path, fmt::format("{} of {} bytes could be read", have, bytes.size()));
    have += static_cast<std::size_t>(got);
  }
  return bytes.size() == size;
}

// Of the header; reads the rest of the file only where the header is longer than usual.
Shape read_file_shape(const std::string& path, std::vector<std::uint8_t>& bytes) {
  const bool whole = read_image_file(path, bytes, header_bytes);
  try {
    return read_image_shape(bytes, path);
  } catch (const Error&) {
    if (whole) throw;
  }
  read_image_file(path, bytes);
  return read_image_shape(bytes, path);
}

class FileSource : public ImageSource {
 public:
  FileSource(FileList list, const DataRequest& request) : list_(std::move(list)) {
    bool grey = true;
    Shape first;
    const std::size_t asked = std::min(list_.count(), sampled_files);
    for (std::size_t i = 0; i < asked; ++i) {
      const Shape shape = head(i * list_.count() / asked);
      if (i == 0) first = shape;
      grey = grey && shape.channels == 1;
    }
    plan_ = plan_decode(request, first, grey);
  }

  std::size_t count() const override { return list_.count(); }
  Shape shape() const override { return plan_.shape; }
  Label label(std::size_t index) const override { return list_.label(index); }
  std::string name(std::size_t index) const override { return list_.path(index); }

  void read(std::size_t index, std::span<std::byte> out) const override {
    thread_local std::vector<std::uint8_t> bytes;
    const std::string path = list_.path(index);
    read_image_file(path, bytes);
    decode_into(plan_, bytes, path, std::span(reinterpret_cast<std::uint8_t*>(out.data()), out.size()));
  }

  // Names, labels, and bytes of some files as they lie on the disk.
  std::uint64_t fingerprint() const override {
    std::uint64_t hash = list_.fingerprint();
    std::vector<std::uint8_t> bytes;
    const std::size_t asked = std::min(list_.count(), sampled_files);
    for (std::size_t i = 0; i < asked; ++i) {
      read_image_file(list_.path(i * list_.count() / asked), bytes);
      hash = hash_bytes(std::as_bytes(std::span(bytes)), hash);
    }
    return hash;
  }

 private:
  Shape head(std::size_t index) const {
    std::vector<std::uint8_t> bytes;
    const std::string path = list_.path(index);
    read_image_file(path, bytes);
    return read_image_shape(bytes, path);
  }

  FileList list_;
  DecodePlan plan_;
};

}  // namespace

DecodePlan plan_decode(const DataRequest& request, const Shape& first, bool grey) {
  DecodePlan plan;
  plan.channels = request.channels != 0 ? request.channels : grey ? 1 : 3;
  plan.resize = request.resize;
  const bool resized = plan.resize.height > 0;
  plan.shape = {plan.channels, resized ? plan.resize.height : first.height,
                resized ? plan.resize.width : first.width};
  return plan;
}

void decode_into(const DecodePlan& plan, std::span<const std::uint8_t> file, std::string_view name,
                 std::span<std::uint8_t> out) {
  Image image = decode_image(file, plan.channels, name);
  if (plan.resize.height > 0) {
    image = resize_image(image, plan.resize);
  } else if (image.height != plan.shape.height || image.width != plan.shape.width) {
    throw Error(
        ErrorKind::request,
        {fmt::format("this image is {}x{}, but the first one is {}x{}", image.height, image.width,
                     plan.shape.height, plan.shape.width),
         printable(name), fmt::format("--resize {}x{}   # all images", plan.shape.height, plan.shape.width)});
  }
  write_planes(image, out);
}

ImageSizes survey_sizes(const FileList& list) {
  ImageSizes sizes;
  std::vector<std::uint8_t> bytes;
  sizes.headers = std::min(list.count(), surveyed_files);
  for (std::size_t i = 0; i < sizes.headers; ++i) {
    const Shape shape = read_file_shape(list.path(i * list.count() / sizes.headers), bytes);
    sizes.grey = sizes.grey && shape.channels == 1;
    const Sides sides{shape.height, shape.width};
    const auto area = [](const Sides& each) { return std::int64_t{each.height} * each.width; };
    if (i == 0 || area(sides) < area(sizes.least)) sizes.least = sides;
    if (i == 0 || area(sides) > area(sizes.most)) sizes.most = sides;
  }
  return sizes;
}

std::vector<Message> find_damaged(const FileList& list) {
  std::vector<Message> damaged;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < list.count(); ++i) {
    const std::string path = list.path(i);
    try {
      read_image_file(path, bytes);
      decode_image(bytes, 3, path);
    } catch (const Error& error) {
      damaged.push_back(error.message());
    }
  }
  return damaged;
}

SourcePtr make_file_source(FileList list, const DataRequest& request) {
  return std::make_shared<FileSource>(std::move(list), request);
}

SourcePtr cache_if_small(SourcePtr source, std::size_t limit) {
  const std::size_t bytes = source->image_bytes();
  if (source->in_memory() || source->pixels() != PixelKind::bytes || source->count() > limit / bytes)
    return source;
  ImageSet set;
  set.shape = source->shape();
  set.pixels.resize(source->count() * bytes);
  for (std::size_t i = 0; i < source->count(); ++i) {
    source->read(i, std::as_writable_bytes(std::span(set.pixels)).subspan(i * bytes, bytes));
    set.labels.push_back(source->label(i));
  }
  const std::string first = source->name(0);
  return make_memory_source(std::move(set), first.substr(0, first.rfind('/')));
}

}  // namespace ddlrun::runtime
