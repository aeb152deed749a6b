// SPDX-License-Identifier: MIT
// Anyone's job script as a value: what the scheduler reads of it, and its shell lines, each with its number.
#pragma once

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

// Where something stands in the file.
struct Place {
  int line = 0;
  int column = 0;
};

struct ScriptLine {
  int line = 0;      // of its first physical line
  std::string text;  // continuation lines joined
  int last_line = 0;
  bool damaged = false;    // a web page's "</p>" was taken for the backslash that it replaced
  bool here_text = false;  // text of a here-document, not shell
  // Which physical line begins at which byte of `text`.
  std::vector<std::pair<std::size_t, int>> pieces;
};
Place place_in(const ScriptLine& line, std::size_t at);

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
