// SPDX-License-Identifier: MIT
#include "templates/user_template.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::templates;

namespace {

const TemplateValues values{{"name", {"train"}},
                            {"nodes", {"4"}},
                            {"account", {}},
                            {"program", {"./a", "it's $(touch x)\n"}},
                            {"evil", {"a\n#SBATCH"}},
                            {"empty", {""}},
                            {"flags", {"-q x"}},
                            {"array", {}},
                            {"modules", {}},
                            {"environment", {}},
                            {"output", {"/w/o ^i^.%a"}}};

const TemplateRules rules{{"array"}, {{"output", {{"%a", "TASK"}, {"^i^", "INDEX"}}}}};

FilledTemplate fill(std::string_view text) { return fill_template(text, "my.sh", values, rules); }

}  // namespace

TEST_SUITE_BEGIN("templates/user_template");

TEST_CASE("placeholders are filled by their filter") {
  struct Row {
    std::string text, filled;
  };
  const std::vector<Row> rows{
      {"", ""},
      {"#!/bin/bash\n#SBATCH -J {{name|sbatch}}\n#SBATCH -N {{nodes|int}}\n",
       "#!/bin/bash\n#SBATCH -J train\n#SBATCH -N 4\n"},
      {"#PBS -N {{ name | pbs }}", "#PBS -N train"},
      {"{{program|sh}}", "./a $'it\\047s \\044\\050touch x\\051\\012'"},
      {"# {{evil|sh}}", "# $'a\\012\\043SBATCH'"},  // stays on its line
      {"x {{account|sh}} y {{empty|sh}}", "x  y $''"},
      {"a }} b { { c", "a }} b { { c"},
      // What the scheduler fills in is a variable in the shell.
      {"exec >>{{output|sh}} 2>&1", "exec >>$'\\057w\\057o '\"${INDEX}\".\"${TASK}\" 2>&1"},
      // A command that does something else without arguments.
      {"export {{environment|sh}}   # of the job\necho", ":   # of the job\necho"},
      {"if a; then export {{environment|sh}} {{modules|sh}}; fi", "if a; then :; fi"},
      {"module load {{modules|sh}} || exit 1", ": || exit 1"},
      {"module load gcc {{modules|sh}}", "module load gcc "},
      {"export {{environment|sh}} {{name|sh}}", "export  train"},
      {"export A={{environment|sh}}", "export A="},
      {"echo \\\n  export {{environment|sh}}", "echo \\\n  export "},
      {"for m in {{modules|sh}}; do module load $m; done", "for m in ; do module load $m; done"},
      // A directive of its own that the job does not need.
      {"#!/bin/bash\n#PBS -J {{array|pbs}}\n#PBS -N {{name|pbs}}\n", "#!/bin/bash\n#PBS -N train\n"},
      {"# {{array|sh}}", "# "},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const FilledTemplate filled = fill(row.text);
    CHECK(filled.errors.empty());
    CHECK(filled.text == row.filled);
  }
}

TEST_CASE("errors have their place, all at once") {
  struct Row {
    std::string text, where, words, hint;
  };
  const std::vector<Row> rows{
      {"\n  {{nmae|sh}}", "my.sh:2:3", "no 'nmae'", "{{name|...}}"},
      {"{{name}}", "my.sh:1:1", "has no filter", "{{name|sh}}"},
      {"{{name|sbach}}", "my.sh:1:1", "unknown filter 'sbach'", "{{name|sbatch}}"},
      {"{{name|sh", "my.sh:1:1", "without }}", "{{name|sh}}"},
      {"{{name|int}}", "my.sh:1:1", "no number but 'train'", ""},
      {"{{program|int}}", "my.sh:1:1", "no number", ""},
      {"#SBATCH -J {{name|sh}}", "my.sh:1:12", "not read by it", ""},
      {"#SBATCH -J {{name|pbs}}", "my.sh:1:12", "lines that begin with #PBS", ""},
      {"echo {{name|sbatch}}", "my.sh:1:6", "lines that begin with #SBATCH", ""},
      {"#SBATCH -A {{account|sbatch}}", "my.sh:1:12", "says nothing about account", ""},
      {"#PBS -N {{name|pbs}} -J {{array|pbs}}", "my.sh:1:25", "says nothing about array",
       "a line of its own"},
      {"#PBS -J {{array|sh}}", "my.sh:1:9", "not read by it", ""},
      {"#SBATCH -A {{evil|sbatch}}", "my.sh:1:12", "cannot be in a directive", ""},
      {"#SBATCH -A {{flags|sbatch}}", "my.sh:1:12", "cannot be in a directive", ""},
      {"x\r\n", "my.sh:1:1", "carriage return", "dos2unix"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const FilledTemplate filled = fill(row.text);
    REQUIRE(filled.errors.size() == 1);
    CHECK(filled.errors[0].where == row.where);
    CHECK(filled.errors[0].what.find(row.words) != std::string::npos);
    CHECK(filled.errors[0].hint.find(row.hint) != std::string::npos);
    CHECK_FALSE(filled.errors[0].hint.empty());
  }
  CHECK(placeholder_names("{{a|sh}} {{ b|x}} {{c}} {{d") == std::set<std::string>{"a", "b", "c"});
  CHECK(fill("{{a|sh}}\n{{b|sh}} {{c|sh}}").errors.size() == 3);
}

TEST_SUITE_END();
