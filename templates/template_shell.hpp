// SPDX-License-Identifier: MIT
// How the values of a job stand in the shell text of a user's template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::templates {

// A part of a value that the scheduler fills in, in a directive only: "%a". In the shell a variable has it.
struct ShellPattern {
  std::string pattern, variable;  // "%a", "SLURM_ARRAY_TASK_ID"
};

// An ASCII letter or digit.
bool is_alnum(char c);

// A word that bash reads back, of letters, digits and `$ ' \` only where it is not plain already: nothing in
// it can be expanded, wherever the placeholder stands.
std::string inert_word(std::string_view word);
// Its patterns are variables, whose values bash neither splits nor expands again.
std::string inert_word(std::string_view word, const std::vector<ShellPattern>& patterns);

// In the text of a line: a placeholder for which the job has no words. A template has no NUL.
constexpr char no_words = '\0';

// The line without `no_words`. A command that does something else without arguments becomes `:` where all its
// arguments are such placeholders: `export` alone prints the whole environment. `continues`: the line before
// ends with a backslash.
std::string settle_bare_commands(std::string line, bool continues);

}  // namespace ddlrun::templates
