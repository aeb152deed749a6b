// SPDX-License-Identifier: MIT
// How what a rank says travels to the head through any launcher's stderr: in pieces of exactly 512 bytes,
// each one line with rank, stream and number. Launchers forward what ranks write in portions of their
// own (Open MPI 4,096 bytes, Slurm whole lines of up to 1,024) and mix those of several ranks: pieces whose
// length divides them are never torn. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::launch {

constexpr std::size_t output_frame_bytes = 512;

enum class RankStream { out, err };

// The supervisor's side: counts the frames of a rank.
class OutputFramer {
 public:
  OutputFramer(std::string_view token, std::uint32_t rank);
  // Whole pieces for any bytes; one piece without bytes for none: the stream has ended.
  std::string mark(RankStream stream, std::string_view bytes);

 private:
  std::string leads_[2];
  std::uint64_t next_[2] = {0, 0};
};

// A line of ours among the pieces, made as long as one, or several.
std::string pad_to_frame(std::string line);

struct OutputFrame {
  std::uint32_t rank = 0;
  RankStream stream = RankStream::out;
  std::uint64_t number = 0;
  std::string bytes;

  bool operator==(const OutputFrame&) const = default;
};

// The head's side: given lines, or parts of them where one was not complete in time.
class OutputReader {
 public:
  explicit OutputReader(std::string_view token);
  struct Taken {
    std::optional<OutputFrame> piece;
    std::string rest;  // what belongs to somebody else, byte for byte
  };
  Taken take(std::string_view line);
  // What still waits for its end, after all was given.
  std::string finish();

 private:
  std::optional<OutputFrame> parse(std::string_view piece) const;

  std::string lead_;
  std::string waiting_;
};

// What has come of each stream, for saying so honestly when something is missing.
class OutputCount {
 public:
  void take(const OutputFrame& piece);
  // Pieces that never came, of all ranks.
  std::uint64_t missing() const { return missing_; }
  // Streams that began and whose end did not come.
  std::size_t without_end() const;

 private:
  struct Stream {
    std::uint64_t next = 0;
    bool ended = false;
  };
  std::map<std::pair<std::uint32_t, RankStream>, Stream> streams_;
  std::uint64_t missing_ = 0;
};

}  // namespace ddlrun::launch
