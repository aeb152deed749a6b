// SPDX-License-Identifier: MIT
// What one rank keeps of its time while it runs: FILE.rankN.part, a ring of fixed records mapped into memory.
// A span costs four stores and no call, and what a killed rank has recorded is in its file. Whole records
// only: a record counts once its number is in place.
#pragma once

#include "runtime/core/trace.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// The trace's lanes, and the steps above them.
enum class PartLane : std::uint8_t { compute, sums, input, saving, steps };
constexpr std::size_t part_lanes = 5;

// Rank 0's clock at a moment: this rank's plus `offset_ns`, off by `error_ns` at most.
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
  std::int64_t wall_ns = 0;           // since 1970, when it began
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
  std::uint64_t recorded = 0;   // also those that later ones took the place of
};

std::string part_name(const std::string& path, int rank);

// Throws Error(request) where the file is none of ours or damaged. `with_spans`: else only what the header
// says.
Part read_part(const std::string& path, bool with_spans = true);

class PartWriter {
 public:
  // Throws Error(request). `bytes`: of the records; the disk gives them now, so that it cannot run out later.
  PartWriter(std::string path, const PartFacts& facts, std::size_t bytes);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  const std::string& path() const { return path_; }
  // By one thread at a time. Without room for more names, the number of "(other)".
  std::uint16_t add_name(std::string_view name);
  // From any thread.
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
