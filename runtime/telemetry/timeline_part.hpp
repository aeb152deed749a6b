// SPDX-License-Identifier: MIT
// The spans of one rank: FILE.rankN.part, a memory-mapped ring of fixed-size records. A span costs four
// stores and no system call, and the records of a killed rank are in its file. A record counts only once its
// number is stored, so readers never see a partial one.
#pragma once

#include "runtime/core/trace.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// The lanes of the trace, and one for steps.
enum class PartLane : std::uint8_t { compute, sums, input, saving, steps };
constexpr std::size_t part_lanes = 5;

// A sample of rank 0's clock: this rank's clock plus `offset_ns`, within `error_ns`.
struct ClockReading {
  std::int64_t at_ns = 0;  // on this rank's clock
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

struct PartFacts {
  std::uint64_t run = 0;  // one number for all parts of a run
  int rank = 0;
  int ranks = 1;
  std::string host;
  std::uint64_t images_per_step = 0;  // of this rank
  std::int64_t wall_ns = 0;           // start of the run, since 1970
  std::int64_t start_ns = 0;          // on TraceClock
};

// `value`: bytes, or the number of a step.
struct PartSpan {
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t value = 0;
  std::uint16_t name = 0;
  PartLane lane = PartLane::compute;
};

struct Part {
  PartFacts facts;
  std::vector<ClockReading> clocks;  // at the start, and at the end if it was reached
  std::vector<std::string> names;
  std::vector<PartSpan> spans;  // by their begin, the longer first
  std::uint64_t recorded = 0;   // including overwritten ones
};

std::string part_name(const std::string& path, int rank);

// Throws Error(request) if the file is damaged or not a part. `with_spans` false: reads the header only.
Part read_part(const std::string& path, bool with_spans = true);

class PartWriter {
 public:
  // Throws Error(request). `bytes`: size of the records, allocated on disk at once so that space cannot run
  // out later.
  PartWriter(std::string path, const PartFacts& facts, std::size_t bytes);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  const std::string& path() const { return path_; }
  // Not thread-safe. Returns the number of "(other)" if the name table is full.
  std::uint16_t add_name(std::string_view name);
  // Thread-safe.
  void add(const PartSpan& span);
  void add_clock(const ClockReading& reading);
  void sync() const;  // for readers on other hosts

 private:
  struct Header;
  void map(std::size_t bytes);

  std::string path_;
  std::size_t mapped_bytes_ = 0;
  std::size_t capacity_ = 0;
  Header* header_ = nullptr;
  std::uint64_t* records_ = nullptr;
  std::uint16_t names_ = 0;
};

}  // namespace ddlrun::runtime
