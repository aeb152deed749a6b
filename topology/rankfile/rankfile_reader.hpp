// SPDX-License-Identifier: MIT
// The text of a rankfile line by line, without judging it: comments are set apart as Open MPI's own scanner
// does, and the header that gen-rankfile writes is understood.
#pragma once

#include "topology/dims.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

using topology::Dims;

constexpr std::size_t max_rankfile_bytes = 64u << 20;
constexpr std::size_t max_rank_line_bytes = 4096;

// One line. A block comment cuts it in pieces: Open MPI takes one for the end of a line.
struct SourceLine {
  int number = 0;                        // 1-based
  std::string_view raw;                  // without the newline
  std::vector<std::string_view> pieces;  // what is not comment; views into `raw`
  std::string_view comment;              // from # or // on
  bool has_newline = true;               // false only for the last line
  bool ends_in_cr = false;               // CR LF, outside of comments; the CR is in no piece
  bool has_block_comment = false;        // some part of /* */ stands in it

  int column_of(std::string_view part) const { return static_cast<int>(part.data() - raw.data()) + 1; }
};

class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}
  // The next line; nothing at the end. The views last as long as the text.
  std::optional<SourceLine> next();
  // The line of a block comment that is still open, or 0.
  int open_comment() const { return open_comment_; }

 private:
  void cut_into_pieces(SourceLine& line);

  std::string_view rest_;
  int number_ = 0;
  int open_comment_ = 0;
};

// What the comments of gen-rankfile (and of rank_gen.py) contain about the file. Lines are 0 where there is
// none.
struct FileHeader {
  std::optional<Dims> dims;
  int dims_line = 0;
  std::vector<std::string> hosts;
  int hosts_line = 0;
  bool assumed_topology = false;
  int topology_line = 0;

  // Takes in one comment, "#dims = 4x2x3"; others are passed over.
  void add_comment(std::string_view comment, int line);
};

FileHeader read_header(std::string_view text);

// One "rank N=HOST slot=SLOTS" for programs that only need the host of each rank.
struct RankLine {
  std::uint32_t rank = 0;
  std::string host;
  std::string slots;
  int line = 0;  // 1-based
};

// The rank lines of a file, in the order written; lines that are not well formed are left out. Judge the text
// with check_rankfile() first.
std::vector<RankLine> parse_rank_lines(std::string_view text);

// The order in which a rankfile with these lines has its ranks: packed where each host's ranks are
// consecutive and some host has several; else ddl.
topology::RankOrder find_rank_order(std::vector<RankLine> lines);

}  // namespace ddlrun::rankfile
