// SPDX-License-Identifier: MIT
// A user's own job script with placeholders: {{name|filter}}. The filter is never left out, since it says
// what may stand there and how it is written:
//   sh      words for bash, each quoted; a list is several words. Not on a line of directives.
//   int     a number
//   sbatch  one value on a #SBATCH line
//   pbs     one value on a #PBS line
// Whatever a value holds, it cannot become a command or a directive, even where its placeholder stands
// between quotes or in a here-document: there it is only ugly. What the template itself hands to eval or bash
// -c is its own affair.
// What the job does not have must not run as something else: `export` and `module load` in front of
// placeholders that are all empty become `:`, and a directive of optional names is left out.
#pragma once

#include "base/text/error.hpp"
#include "templates/template_shell.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::templates {

// By name; most have one word, a program several, what the job does not say none.
using TemplateValues = std::map<std::string, std::vector<std::string>>;

struct TemplateRules {
  std::set<std::string> optional;  // a directive line that has only these is left out where all are empty
  std::map<std::string, std::vector<ShellPattern>> patterns;  // by the name of the placeholder
};

struct FilledTemplate {
  std::string text;
  std::set<std::string> used;               // the names of its placeholders
  std::set<std::string> shell, directives;  // of those: with the filter sh; with another one
  std::vector<Message> errors;  // all of them, each at FILE:LINE:COLUMN; the text is good only without any
};

// Never throws for what the user wrote.
FilledTemplate fill_template(std::string_view text, const std::string& file_name,
                             const TemplateValues& values, const TemplateRules& rules = {});

// The names of its placeholders, whatever they are filled with.
std::set<std::string> placeholder_names(std::string_view text);

}  // namespace ddlrun::templates
