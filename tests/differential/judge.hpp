// SPDX-License-Identifier: MIT
// The verdict on one rankfile: what ompi_map.sh found out about Open MPI, held against the lines as written.
#pragma once

#include "binding.hpp"
#include "tests/support/rankfile_outcome.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_reader.hpp"
#include "topology/rankfile/slot_list.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::tests {

using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

// Two different long names that Open MPI takes for one host.
inline bool names_fold(const std::vector<RankLine>& lines) {
  std::map<std::string_view, std::string_view> long_names;
  return std::any_of(lines.begin(), lines.end(), [&](const RankLine& line) {
    if (line.host.find('.') == std::string::npos) return false;
    return long_names.emplace(folded_name(line.host), line.host).first->second != line.host;
  });
}

// The first rank that Open MPI puts elsewhere than the lines say; empty if none.
inline std::string first_difference(std::string_view text, const OracleMachine& machine,
                                    const ProcessResult& said, int mpi_major = 4) {
  const auto found = read_bindings(said.out);
  const auto lines = parse_rank_lines(text);
  if (found.size() != lines.size())
    return fmt::format("{} lines, {} ranks bound", lines.size(), found.size());
  for (const RankLine& line : lines) {
    const auto at = found.find(line.rank);
    if (at == found.end()) return fmt::format("rank {} is not bound", line.rank);
    const auto host =
        line.host.find('.') == std::string::npos ? line.host : std::string(folded_name(line.host));
    const bool is_relative = mpi_major >= 5 && line.host.starts_with('+');
    if (!is_relative && at->second.host != host.substr(host.find('@') + 1)) {
      return fmt::format("rank {} is on {}, not on {}", line.rank, at->second.host, host);
    }
    const SlotReading reading = read_slots(line.slots, &machine.topology, mpi_major);
    std::vector<int> wanted;
    for (const CoreIndex core : reading.cores) wanted.push_back(core.logical);
    const bool is_whole = wanted.size() == machine.topology.cores.size();
    const bool drawn = !machine.topology.packages.empty() && (mpi_major >= 5 || !is_whole);
    if (at->second.drawn != drawn || (drawn && at->second.cores != wanted)) {
      return fmt::format("rank {} is bound to \"{}\", not to {}", line.rank, render_ranges(at->second.cores),
                         line.slots);
    }
  }
  return names_fold(lines) ? "two hosts became one" : "";
}

// The allocation that a rankfile is for, as options of prrte_map.sh; `ranks` 0: as many as lines.
inline std::vector<std::string> prrte_options(std::string_view text, std::size_t ranks) {
  const auto lines = parse_rank_lines(text);
  std::string hosts;  // a name again only adds slots
  for (const RankLine& line : lines) {
    const std::string name = line.host.substr(line.host.find('@') + 1);
    hosts += fmt::format("{}{}:1", hosts.empty() ? "" : ",", name.starts_with('+') ? "a" : name);
  }
  return {"--host", hosts, "-np", std::to_string(ranks > 0 ? ranks : lines.size())};
}

inline Outcome real_outcome(std::string_view text, const OracleMachine& machine, const ProcessResult& said,
                            int mpi_major = 4) {
  if (said.exit_status == 3) return Outcome::crash;
  if (said.exit_status != 0) return Outcome::refused;
  return first_difference(text, machine, said, mpi_major).empty() ? Outcome::bound : Outcome::different;
}

}  // namespace ddlrun::tests
