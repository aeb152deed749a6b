// SPDX-License-Identifier: MIT
// Anyone's job script as a value: what the scheduler reads of it, and its shell lines, each with its number.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

enum class Dialect { none, slurm, pbs };

// One option of one directive line: "#PBS -l select=2:ncpus=68" -> {"-l", "select=2:ncpus=68"}.
struct Directive {
  std::string option;
  std::string value;
  int line = 0;
  int column = 0;
};

struct ScriptLine {
  int line = 0;      // of its first physical line
  std::string text;  // continuation lines joined
};

struct JobScript {
  std::string file;
  Dialect dialect = Dialect::none;
  std::string shebang;
  std::vector<Directive> directives;          // those that the scheduler reads
  std::vector<Directive> ignored_directives;  // after the first command, behind a blank, misspelt sentinel
  std::vector<ScriptLine> body;
  std::map<std::string, ScriptLine> exports;  // NAME -> the line that sets it; its text is the value
};

// Never throws; what is odd is the linter's to tell.
JobScript parse_job_script(std::string_view text, std::string file_name);

}  // namespace ddlrun::job_scripts
