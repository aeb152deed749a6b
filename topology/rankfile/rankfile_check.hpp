// SPDX-License-Identifier: MIT
// The check of rankfiles: everything that Open MPI 4.1 or 5 refuses, takes otherwise than written, says
// wrongly or crashes on, each as a finding with its line. Pure: text and what is known about the job in,
// findings out.
#pragma once

#include "topology/dims.hpp"
#include "topology/machine.hpp"
#include "topology/rankfile/rankfile_reader.hpp"
#include "topology/rankfile/slot_list.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

struct RankfileFinding {
  std::string id;  // stable, kebab-case: "rank-0-not-first"
  Severity severity = Severity::error;
  int line = 0;    // 1-based; 0 where the finding is about the file as a whole
  int column = 0;  // 1-based, in bytes; 0 where the whole line is meant
  std::string what;
  std::string hint;
  std::string corrected;  // the line(s) as they should read, or "" where that is not ours to decide

  bool operator==(const RankfileFinding&) const = default;
};

// At most this many findings of one id; the last one then has the count of the rest.
constexpr std::size_t max_findings_of_a_kind = 10'000;

// What is known about the job the file is for. Everything is optional; what is not given is not checked.
struct CheckContext {
  bool shares_cores = false;           // --oversubscribe: several ranks on a core are no finding
  std::optional<std::uint32_t> ranks;  // mpirun -n
  std::optional<Dims> dims;
  std::vector<std::string> allocation;  // names as the hostfile, -H or the scheduler gives them
  std::vector<std::string> aliases;     // other names of these hosts that Open MPI takes too
  // The machine behind a host name of the file; nothing, or a null pointer, where it is not known.
  std::function<const MachineTopology*(std::string_view host)> machine_of;
  int mpi_major = 4;
  std::size_t limit_of_a_kind = max_findings_of_a_kind;
};

// All findings, in the order of the lines.
std::vector<RankfileFinding> check_rankfile(std::string_view text, const CheckContext& context);

bool has_errors(const std::vector<RankfileFinding>& findings);
// True where anything but notes was found: the file should not be used as it is.
bool needs_attention(const std::vector<RankfileFinding>& findings);

// "FILE:LINE:COLUMN: severity: what [id]\n  try: hint\n  fix: corrected\n"
std::string render_finding(std::string_view file_name, const RankfileFinding& finding);
// All findings about `text`; the first 20 and the count of the rest where no line of it is a rank line.
std::string render_findings(std::string_view file_name, std::string_view text,
                            const std::vector<RankfileFinding>& findings);

}  // namespace ddlrun::rankfile
