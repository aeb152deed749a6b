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
#pragma once

#include "base/text/error.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::templates {

// By name; most have one word, a program several, what the job does not say none.
using TemplateValues = std::map<std::string, std::vector<std::string>>;

struct FilledTemplate {
  std::string text;
  std::set<std::string> used;   // the names of its placeholders
  std::vector<Message> errors;  // all of them, each at FILE:LINE:COLUMN; the text is good only without any
};

// Never throws for what the user wrote.
FilledTemplate fill_template(std::string_view text, const std::string& file_name,
                             const TemplateValues& values);

// The names of its placeholders, whatever they are filled with.
std::set<std::string> placeholder_names(std::string_view text);

}  // namespace ddlrun::templates
