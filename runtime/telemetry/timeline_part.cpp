// SPDX-License-Identifier: MIT
#include "runtime/telemetry/timeline_part.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/telemetry/timeline_layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddlrun::runtime {
namespace {

Error refuse_part(const std::string& path, const char* what, int code) {
  return {ErrorKind::request,
          {fmt::format("{}: {}", what, std::strerror(code)), "--timeline, " + printable(path),
           "--timeline /tmp/timeline.json   # a writable directory, on a disk with free space"}};
}

void store_word(std::uint64_t& word, std::uint64_t value, std::memory_order order) {
  std::atomic_ref(word).store(value, order);
}

// A file of its own, whatever was there: a run that still writes into an older one keeps that.
int create_part(const std::string& path, std::size_t bytes) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    throw refuse_part(path, "an old part of the timeline cannot be removed", errno);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw refuse_part(path, "the timeline's part cannot be created", errno);
  const int code = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (code == 0) return file;
  close(file);
  unlink(path.c_str());
  throw refuse_part(path, fmt::format("no {} for the timeline's part", render_bytes(bytes)).c_str(), code);
}

}  // namespace

struct PartWriter::Header : PartHeader {};

std::string part_name(const std::string& path, int rank) { return fmt::format("{}.rank{}.part", path, rank); }

void PartWriter::map(std::size_t bytes) {
  mapped_bytes_ = part_header_bytes + part_names_bytes + bytes;
  const int file = create_part(path_, mapped_bytes_);
  void* place = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int code = errno;
  close(file);
  if (place == MAP_FAILED) throw refuse_part(path_, "the timeline's part cannot be mapped", code);
  header_ = static_cast<Header*>(place);
  records_ =
      reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(place) + part_header_bytes + part_names_bytes);
}

PartWriter::PartWriter(std::string path, const PartFacts& facts, std::size_t bytes)
    : path_(std::move(path)), capacity_(std::max<std::size_t>(bytes / part_record_bytes, 1)) {
  map(capacity_ * part_record_bytes);
  header_->record_bytes = part_record_bytes;
  header_->capacity = capacity_;
  header_->run = facts.run;
  header_->images_per_step = facts.images_per_step;
  header_->wall_ns = facts.wall_ns;
  header_->start_ns = facts.start_ns;
  header_->rank = facts.rank;
  header_->ranks = facts.ranks;
  std::memcpy(header_->host, facts.host.data(), std::min(facts.host.size(), sizeof(header_->host) - 1));
  add_name("step");
  add_name("(other)");
  std::memcpy(header_->magic, part_magic, sizeof(part_magic));
}

PartWriter::~PartWriter() { munmap(header_, mapped_bytes_); }

void PartWriter::sync() const { msync(header_, mapped_bytes_, MS_SYNC); }

std::uint16_t PartWriter::add_name(std::string_view name) {
  constexpr std::uint16_t other = 1;
  constexpr std::size_t longest = 200;
  const auto length = static_cast<std::uint16_t>(std::min(name.size(), longest));
  const std::uint64_t used = header_->names_used;
  if (used + sizeof(length) + length > part_names_bytes || names_ == UINT16_MAX) return other;
  char* place = reinterpret_cast<char*>(header_) + part_header_bytes + used;
  std::memcpy(place, &length, sizeof(length));
  std::memcpy(place + sizeof(length), name.data(), length);
  store_word(header_->names_used, used + sizeof(length) + length, std::memory_order_release);
  return names_++;
}

void PartWriter::add(const PartSpan& span) {
  const std::uint64_t number = std::atomic_ref(header_->recorded).fetch_add(1, std::memory_order_relaxed);
  std::uint64_t* words = records_ + number % capacity_ * part_record_words;
  const std::uint64_t duration = std::min<std::uint64_t>(
      static_cast<std::uint64_t>(std::max<std::int64_t>(span.duration_ns, 0)), part_longest);
  store_word(words[0], 0, std::memory_order_relaxed);
  store_word(words[1], static_cast<std::uint64_t>(span.begin_ns), std::memory_order_release);  // after the 0
  store_word(words[2],
             duration | static_cast<std::uint64_t>(span.lane) << part_duration_bits |
                 static_cast<std::uint64_t>(span.name) << (part_duration_bits + part_lane_bits),
             std::memory_order_relaxed);
  store_word(words[3], span.value, std::memory_order_relaxed);
  store_word(words[0], number + 1, std::memory_order_release);
}

void PartWriter::add_clock(const ClockReading& reading) {
  const std::uint64_t known = header_->clocks_known;
  if (known == std::size(header_->clocks)) return;
  header_->clocks[known] = reading;
  store_word(header_->clocks_known, known + 1, std::memory_order_release);
}

}  // namespace ddlrun::runtime
