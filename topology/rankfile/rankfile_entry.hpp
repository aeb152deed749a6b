// SPDX-License-Identifier: MIT
// One entry "rank N=HOST slot=SLOTS": its parts, and what keeps Open MPI from reading it as it is written.
#pragma once

#include "topology/rankfile/slot_list.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

// `offset` counts bytes from the begin of the piece. `mendable`: the entry's parts are known all the same.
struct EntryProblem {
  std::string id;
  Severity severity = Severity::error;
  std::size_t offset = 0;
  std::string what;
  std::string hint;
  bool mendable = true;
};

struct RankEntry {
  bool blank = true;                  // nothing but blanks
  std::optional<std::uint32_t> rank;  // below max_ranks
  std::string_view host;              // empty where there is none
  std::string slots;                  // put together where blanks had torn it apart
  std::size_t host_offset = 0;
  std::size_t slot_word_offset = 0;  // where "slot" begins
  std::size_t slots_offset = 0;
  std::string_view next_entry;  // a second "rank ..." in the same line
  std::vector<EntryProblem> problems;

  bool complete() const { return rank && !host.empty() && !slots.empty(); }
};

// Reads the first entry of a piece of a line (comments already taken out).
RankEntry read_entry(std::string_view piece);

// "U+00A0 (no-break space)" for a byte sequence at the begin of `text` that only looks blank; "" otherwise.
std::string_view odd_blank_name(std::string_view text);
// How many bytes that sequence has; 0 if there is none.
std::size_t odd_blank_size(std::string_view text);

}  // namespace ddlrun::rankfile
