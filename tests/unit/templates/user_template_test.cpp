// SPDX-License-Identifier: MIT
#include "templates/user_template.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::templates;

namespace {

const TemplateValues values{
    {"name", {"train"}},      {"nodes", {"4"}}, {"account", {}},    {"program", {"./a", "it's $(touch x)\n"}},
    {"evil", {"a\n#SBATCH"}}, {"empty", {""}},  {"flags", {"-q x"}}};

FilledTemplate fill(std::string_view text) { return fill_template(text, "my.sh", values); }

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
