// SPDX-License-Identifier: MIT
// Where each line of launch's stderr stands in the files of the ranks (--tee, --rank-output files). Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

class StreamLines {
 public:
  struct Place {
    std::optional<std::uint32_t> rank;  // nothing: a line of launch or its launcher
    std::uint64_t line = 0;             // 1-based, in the rank's file
  };

  // The next line of the stream, or the rest of a rank's line that had no newline yet.
  void take(std::string_view piece, std::optional<std::uint32_t> rank, bool begins_line);
  // Nothing for a line that is not known.
  std::optional<Place> find(std::uint64_t stream_line) const;

 private:
  struct Run {  // of lines that follow each other in both
    std::uint64_t first = 0;
    Place place;
  };
  struct File {
    std::uint64_t lines = 0;
    bool is_open = false;  // its last line has no newline
  };

  std::vector<Run> runs_;
  std::map<std::uint32_t, File> files_;
  std::uint64_t lines_ = 0;  // of the stream
  std::uint64_t known_ = 0;  // of them
};

// `diagnosis` of the stream with each line as its reader finds it: "out/rank-0003.err", 6.
diagnose::Diagnosis cite_rank_files(diagnose::Diagnosis diagnosis, const StreamLines& lines);

}  // namespace ddlrun::launch
