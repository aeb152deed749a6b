// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "schedulers/job/script_forms.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

std::string value_or_refusal(ValueKind kind, std::string_view text) {
  try {
    return directive_value(kind, text, "key", "ddlrun.yaml:3:7");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
    CHECK(error.message().where == "ddlrun.yaml:3:7");
    return "refused";
  }
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/directive_value");

TEST_CASE("each kind of value takes its own alphabet and nothing else") {
  struct Row {
    ValueKind kind;
    std::string text;
    bool good;
  };
  const std::vector<Row> rows{
      {ValueKind::job_name, "resnet50-4x4", true},
      {ValueKind::job_name, "3rd.try_a+b", true},
      {ValueKind::job_name, std::string(64, 'x'), true},
      {ValueKind::job_name, std::string(65, 'x'), false},
      {ValueKind::job_name, "", false},
      {ValueKind::job_name, "-J", false},
      {ValueKind::job_name, "../../x", false},
      {ValueKind::job_name, "my job", false},
      {ValueKind::job_name, "a#b", false},
      {ValueKind::job_name, "a\n#SBATCH -o x", false},
      {ValueKind::job_name, "$(touch x)", false},
      {ValueKind::job_name, "\xe2\x80\x93o", false},
      {ValueKind::name, "normal", true},
      {ValueKind::name, "workq@server", true},
      {ValueKind::name, "normal -V", false},
      {ValueKind::name, "a,b", false},
      {ValueKind::name, "-q", false},
      {ValueKind::resource, "knl&(flat|cache)", true},
      {ValueKind::resource, "[rack1|rack2]", true},
      {ValueKind::resource, "a b", false},
      {ValueKind::resource, "a;b", false},
      {ValueKind::path, "/scratch/me/out.log", true},
      {ValueKind::path, "/scratch/\xed\x95\x9c/x", true},
      {ValueKind::path, "out.log", false},
      {ValueKind::path, "/a b", false},
      {ValueKind::path, "/a\tb", false},
      {ValueKind::path, "/a$HOME", false},
      {ValueKind::path, "/a\"b", false},
      {ValueKind::hosts, "n1,n2.cluster", true},
      {ValueKind::hosts, "n1,,n2", false},
      {ValueKind::hosts, "-n1", false},
      {ValueKind::hosts, "n1;reboot", false},
      {ValueKind::mail, "me.too+x@example.org", true},
      {ValueKind::mail, "me", true},
      {ValueKind::mail, "a b@c", false},
      {ValueKind::mail, "me@x,you@y", false},
      {ValueKind::job_id, "1234", true},
      {ValueKind::job_id, "15_3", true},
      {ValueKind::job_id, "3[0].minsky1", true},
      {ValueKind::job_id, "x1", false},
      {ValueKind::job_id, "1:2", false},
      {ValueKind::job_id, "1,afterany:2", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(value_or_refusal(row.kind, row.text) == (row.good ? row.text : "refused"));
  }
}

TEST_CASE("a directive of the user's is one line that begins with a dash") {
  CHECK(verbatim_directive("--exclude=n7 --hint=nomultithread", "") == "--exclude=n7 --hint=nomultithread");
  for (const std::string text :
       {"", "-", "exclude=n7", "--a\n#SBATCH --b", "--a\rb", " --a", "#SBATCH --a"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(verbatim_directive(text, "directives"), Error);
  }
}

TEST_CASE("words are quoted so that no control byte stands in the script") {
  struct Row {
    std::string word, text;
  };
  const std::vector<Row> rows{
      {"plain-word.txt", "plain-word.txt"},
      {"", "''"},
      {"it's", "'it'\\''s'"},
      {"$(touch x)", "'$(touch x)'"},
      {"\xc3\xa9", "'\xc3\xa9'"},
      {"a\nb", "$'a\\nb'"},
      {"a\r'\\", "$'a\\015\\'\\\\'"},
      {"\x81'", "$'\\201\\''"},  // half a character
  };
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(shell_word(row.word) == row.text);
  }
  CHECK_THROWS_AS(shell_word(std::string_view("a\0b", 3)), Error);
}

TEST_CASE("names of variables") {
  CHECK(variable_name("NCCL_DEBUG=INFO=x") == "NCCL_DEBUG");
  CHECK(variable_name("_x9") == "_x9");
  for (const std::string entry :
       {"", "=x", "9a=b", "A B=c", "A-B", "A$(x)=b", "PPID=1", "ddl_child=1", "a\nb"}) {
    CAPTURE(entry);
    CHECK_THROWS_AS(variable_name(entry), Error);
  }
}

TEST_SUITE_END();
