// SPDX-License-Identifier: MIT
// What launchers and loggers put before a line, removed and parsed: rank, host and time.
//   [1,0]<stderr>:   mpirun --tag-output        [0]   Intel MPI -l      0:        srun -l
//   [rank0]:         torchrun                   [host:pid] [[1,0],0]    Open MPI's own lines
//   host:pid:tid [gpu] NCCL ...                 time stamps of many kinds
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// A time stamp as microseconds; comparable only with others of the same kind.
struct Stamp {
  enum class Kind { none, dated, without_year } kind = Kind::none;
  std::int64_t microseconds = 0;

  bool operator==(const Stamp&) const = default;
};

// When a line was printed: the time if it is known, and its place in the order of all lines.
struct Moment {
  Stamp stamp;
  std::uint64_t sequence = 0;
};
// By time where both have a stamp of one kind, else by their order.
bool is_earlier(const Moment& a, const Moment& b);

// Whether a launcher was asked to put the rank before each line. Other programs begin lines with "3: " too.
enum class RankTag { none, likely, certain };

struct LinePrefix {
  std::optional<std::uint32_t> rank;
  RankTag tag = RankTag::none;
  std::string host;
  Stamp stamp;
  std::string_view text;  // what is left of the line
};

// The rank in MPI_COMM_WORLD that a line of MPICH's gives: "(rank 0 in comm 0)". Programs other than srun
// also put a number before each line (ctest -V), so that this one counts.
std::optional<std::uint32_t> rank_in_text(std::string_view text);
// A number in brackets from `ranks` on, such as a process id, is no rank.
LinePrefix split_prefix(std::string_view line,
                        std::uint32_t ranks = std::numeric_limits<std::uint32_t>::max());

// "[1,2]<stderr>:a [1,2]<stderr>:b" -> "[1,2]<stderr>:a b": mpirun puts its tag before each piece that a rank
// writes.
std::string without_repeated_tags(std::string_view line);
bool repeats_tag(std::string_view line);

// Without ANSI escape sequences.
std::string strip_escapes(std::string_view line);

// True for the letters, digits, '.', '_' and '-' that names of hosts are made of.
bool is_name_byte(char byte);

// A host's name without the dots and hyphens around it: "n2." at the end of a sentence; never an option.
std::string_view host_in(std::string_view text);

}  // namespace ddlrun::diagnose
