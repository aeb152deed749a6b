// SPDX-License-Identifier: MIT
// The part of timeline_part.hpp that reads what a run has left, whole or not.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/telemetry/timeline_layout.hpp"

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

Error refuse_reading(const std::string& path, const std::string& what) {
  return {ErrorKind::request, {what, printable(path), "rm " + quote_shell(path)}};
}

// A file as it is, for reading.
class PartMap {
 public:
  explicit PartMap(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts {};
    if (file < 0 || fstat(file, &facts) != 0) {
      const int code = errno;
      if (file >= 0) close(file);
      throw refuse_reading(path,
                           fmt::format("a part of the timeline cannot be read: {}", std::strerror(code)));
    }
    size_ = S_ISREG(facts.st_mode) ? static_cast<std::size_t>(facts.st_size) : 0;
    if (size_ >= part_header_bytes) place_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (place_ == MAP_FAILED) throw refuse_reading(path, "a part of the timeline is cut short or not one");
  }
  ~PartMap() { munmap(place_, size_); }
  PartMap(const PartMap&) = delete;
  PartMap& operator=(const PartMap&) = delete;

  std::size_t size() const { return size_; }
  const std::byte* at(std::size_t offset) const { return static_cast<const std::byte*>(place_) + offset; }
  const PartHeader& header() const { return *static_cast<const PartHeader*>(place_); }

 private:
  void* place_ = MAP_FAILED;
  std::size_t size_ = 0;
};

void check_head(const std::string& path, const PartMap& map) {
  const PartHeader& header = map.header();
  if (std::memcmp(header.magic, part_magic, sizeof(part_magic)) != 0)
    throw refuse_reading(path, "a part of the timeline is from another version");
  const std::size_t room = map.size() - std::min(map.size(), part_header_bytes + part_names_bytes);
  if (header.record_bytes != part_record_bytes || header.capacity == 0 ||
      header.capacity > room / part_record_bytes) {
    throw refuse_reading(
        path, fmt::format("a part of the timeline is cut short: {} records of {} bytes in {} bytes",
                          header.capacity, header.record_bytes, room));
  }
  if (header.rank < 0 || header.ranks < 1 || header.rank >= header.ranks ||
      load_word(header.names_used) > part_names_bytes ||
      load_word(header.clocks_known) > std::size(header.clocks))
    throw refuse_reading(
        path, fmt::format("a part of the timeline is damaged: rank {} of {}", header.rank, header.ranks));
}

std::vector<std::string> read_names(const std::string& path, const PartMap& map) {
  std::vector<std::string> names;
  const std::size_t used = load_word(map.header().names_used);
  for (std::size_t at = 0; at < used;) {
    std::uint16_t length = 0;
    if (used - at >= sizeof(length)) std::memcpy(&length, map.at(part_header_bytes + at), sizeof(length));
    at += sizeof(length);
    if (at > used || length > used - at)
      throw refuse_reading(path, "a part of the timeline has damaged names");
    names.emplace_back(reinterpret_cast<const char*>(map.at(part_header_bytes + at)), length);
    at += length;
  }
  return names;
}

// Those that are whole: a rank may have ended in the middle of its last one.
std::vector<PartSpan> read_spans(const PartMap& map, std::uint64_t recorded, std::size_t names) {
  const auto capacity = static_cast<std::size_t>(map.header().capacity);
  const auto* words = reinterpret_cast<const std::uint64_t*>(map.at(part_header_bytes + part_names_bytes));
  std::vector<PartSpan> spans;
  spans.reserve(std::min<std::size_t>(capacity, recorded));
  for (std::size_t slot = 0; slot < std::min<std::size_t>(capacity, recorded);
       ++slot, words += part_record_words) {
    const std::uint64_t number = load_word(words[0]);
    if (number == 0 || number > recorded || (number - 1) % capacity != slot) continue;
    const std::uint64_t packed = load_word(words[2]);
    PartSpan span;
    span.begin_ns = static_cast<std::int64_t>(load_word(words[1]));
    span.duration_ns = static_cast<std::int64_t>(packed & part_longest);
    span.value = load_word(words[3]);
    span.name = static_cast<std::uint16_t>(packed >> (part_duration_bits + part_lane_bits));
    const auto lane = packed >> part_duration_bits & ((1U << part_lane_bits) - 1);
    if (lane >= part_lanes || span.name >= names) continue;
    span.lane = static_cast<PartLane>(lane);
    spans.push_back(span);
  }
  std::sort(spans.begin(), spans.end(), [](const PartSpan& a, const PartSpan& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.duration_ns > b.duration_ns;
  });
  return spans;
}

}  // namespace

Part read_part(const std::string& path, bool with_spans) {
  const PartMap map(path);
  check_head(path, map);
  const PartHeader& header = map.header();
  Part part;
  const std::size_t host_length = strnlen(header.host, sizeof(header.host));
  part.facts = {header.run,
                header.rank,
                header.ranks,
                std::string(header.host, host_length),
                header.images_per_step,
                header.wall_ns,
                header.start_ns};
  part.clocks.assign(header.clocks, header.clocks + load_word(header.clocks_known));
  part.names = read_names(path, map);
  part.recorded = load_word(header.recorded);
  if (with_spans) part.spans = read_spans(map, part.recorded, part.names.size());
  return part;
}

}  // namespace ddlrun::runtime
