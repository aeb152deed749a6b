// SPDX-License-Identifier: MIT
// Anyone's job script as a value: what the scheduler reads of it, and its shell lines, each with its number.
#pragma once

#include "base/text/shell_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

constexpr std::uint64_t max_script_bytes = 4u << 20;  // sbatch's own limit

enum class Dialect { none, slurm, pbs };

// Why the scheduler does not read a line that looks like a directive.
enum class Unread { no, after_command, leading_blank, misspelt, other_dialect };

// One option of one directive line: "#PBS -l select=2:ncpus=68" -> {"-l", "select=2:ncpus=68"}. A word that
// is no option has an empty `option`.
struct Directive {
  std::string option;
  std::string value;
  int line = 0;
  int column = 0;
  Unread unread = Unread::no;
};

struct JobScript {
  std::string file;
  Dialect dialect = Dialect::none;
  std::string shebang;
  std::vector<Directive> directives;          // those that the scheduler reads
  std::vector<Directive> ignored_directives;  // after the first command, behind a blank, misspelt sentinel
  std::vector<ScriptLine> body;               // without comments and empty lines
  std::map<std::string, ScriptLine> exports;  // NAME -> the line that sets it; its text is the value
  std::vector<std::string> lines;             // the physical lines, without "\n" and "\r"
  bool has_carriage_returns = false;
};

// sbatch and qsub read a few dozen; checks of each against all others would take minutes for many.
constexpr std::size_t max_directives = 1000;
// Error{request} for a script with more.
void refuse_outsized(const JobScript& script);

// Never throws; the linter reports what is odd.
JobScript parse_job_script(std::string_view text, std::string file_name);

}  // namespace ddlrun::job_scripts
