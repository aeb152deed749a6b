// SPDX-License-Identifier: MIT
// A user's own file of signatures: what is refused, and where.
#include "doctor/diagnose/signatures_yaml.hpp"

#include "base/text/error.hpp"
#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/signature_texts.hpp"
#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;

namespace {

const std::string good =
    "signatures:\n"
    "- id: OWN1\n"
    "  class: P\n"
    "  title: it broke\n"
    "  match: ['our own text {value}']\n"
    "  cause: because\n"
    "  try: [do this]\n"
    "  reference: wiki\n";

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/signatures_yaml");

TEST_CASE("a user's signature file is read") {
  const SignatureSet set = parse_signatures(good, "own.yaml");
  REQUIRE(set.signatures.size() == 1);
  CHECK(set.signatures[0].id == "OWN1");
  CHECK(set.signatures[0].remedies == std::vector<std::string>{"do this"});
  const SignatureSet both = merge_signatures(*builtin_signatures(), set);
  CHECK(both.signatures.size() == builtin_signatures()->signatures.size() + 1);
  CHECK(merge_signatures(both, set).signatures.size() == both.signatures.size());
}

TEST_CASE("what --explain ID --json prints is a signature file") {
  for (const Signature& signature : builtin_signatures()->signatures) {
    const std::string printed = render_signatures_json({&signature});
    const SignatureSet read = parse_signatures(printed, "printed.json");
    CAPTURE(signature.id);
    REQUIRE(read.signatures.size() == 1);
    CHECK(render_signatures_json({&read.signatures[0]}) == printed);
    for (const auto& [key, flag] : signature_flags) CHECK(read.signatures[0].*flag == signature.*flag);
  }
  CHECK_THROWS_AS(parse_signatures("schema: ddlrun.diagnose/1\n" + good, "own.yaml"), ddlrun::Error);
  // Of a version that had no facts.
  const SignatureSet older = parse_signatures(good + "  exit_statuses: [3]\n", "own.yaml");
  REQUIRE(older.signatures[0].facts.size() == 1);
  CHECK(older.signatures[0].facts[0].statuses == std::vector<int>{3});
}

TEST_CASE("an error in a signature file names its place") {
  struct Row {
    std::string text;
    const char* where;
    const char* what;
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const Row rows[] = {
      {with("class: P", "class: Q"), "own.yaml:3:10", "class"},
      {with("title:", "titel:"), "own.yaml:4:10", "titel"},
      {with("  cause: because\n", ""), "own.yaml:2:3", "cause"},
      {with("'our own text {value}'", "'{value}'"), "own.yaml:5:11", "fixed text"},
      {with("'our own text {value}'", "'our own {x}'"), "own.yaml:5:11", "{name}"},
      {with("[do this]", "{a: b}"), "own.yaml:7:8", "list"},
      {with("[do this]", "[\"ls '{value}'\"]"), "own.yaml:7:9", "within quotes"},
      {with("[do this]", "[\"ssh HOST ls {path}\"]"), "own.yaml:7:9", "behind ssh"},
      {with("because", "the rank {local_rank} left"), "own.yaml:6:10", "{local_rank}"},
      {with("because", "\xff because"), "own.yaml:6:10", "UTF-8"},
      {with("because", "\"\\e[0m\""), "own.yaml:6:10", "control"},
      {with("because", "&a because"), "own.yaml:6:10", "anchor"},
      {with("because", "!!binary because"), "own.yaml:6:10", "tag"},
      {with("  cause: because\n", "  cause: because\n  cause: again\n"), "own.yaml:7:3", "twice"},
      {good + good.substr(good.find("- id")), "own.yaml:9:3", "twice"},
      {"signatures: [", "own.yaml:1:", "YAML"},
      {"", "own.yaml:", ""},
      {"just a text", "own.yaml:1:1", "mapping"},
      {std::string(2 << 20, ' '), "own.yaml", "bytes"},
      {"a: " + std::string(100, '[') + std::string(100, ']'), "own.yaml:1:", "deeper"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 300));
    try {
      parse_signatures(row.text, "own.yaml");
      FAIL("was not refused");
    } catch (const ddlrun::Error& error) {
      CAPTURE(error.message().where);
      CAPTURE(error.message().what);
      CHECK(error.message().where.starts_with(row.where));
      CHECK(error.message().what.find(row.what) != std::string::npos);
    }
  }
}

TEST_CASE("mutated signature files are read or rejected without a crash (sanitizers)") {
  const auto rounds = ddlrun::tests::mutation_rounds(3000);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    try {
      parse_signatures(ddlrun::tests::mutate(good, i), "own.yaml");
    } catch (const ddlrun::Error&) {
    }
  }
}

TEST_CASE("the built-in file has every documented signature") {
  const auto set = builtin_signatures();
  CHECK(set->signatures.size() >= 225);
  for (const Signature& signature : set->signatures) {
    CAPTURE(signature.id);
    CHECK(!signature.remedies.empty());
    CHECK(signature.title.size() <= 90);
    CHECK(signature.cause.size() <= 330);
  }
}

TEST_CASE("a refused remedy is shown as it should be written") {
  struct Row {
    const char *remedy, *mended;
  };
  const Row rows[] = {{"grep -i '{value}' materials.tab", "grep -i {value} materials.tab"},
                      {"grep -i \"{value}\" materials.tab", "grep -i {value} materials.tab"},
                      {"grep 'name={value}' a.tab", "grep 'name='{value} a.tab"},
                      {"grep 'a {value} b' c", "grep 'a '{value}' b' c"}};
  for (const Row& row : rows) {
    CAPTURE(row.remedy);
    const ValueFault fault = find_value_fault(row.remedy);
    CHECK(fault.what.find("quotes") != std::string::npos);
    CHECK(fault.mended == row.mended);
    CHECK(find_value_fault(fault.mended).what.empty());
  }
  CHECK(find_value_fault("grep -i {value} a.tab   # the '{value}' of the log").what.empty());
}

TEST_CASE("a wrong signature leaves the others of its file in use, where warnings are taken") {
  const std::string wrong =
      "- id: OWN2\n  class: P\n  title: x\n  cause: y\n  match: 'another text'\n  try: \"grep '{value}' "
      "a.tab\"\n";
  std::vector<ddlrun::Message> warnings;
  const SignatureSet set = parse_signatures(good + wrong, "own.yaml", &warnings, WrongSignature::left_out);
  REQUIRE(set.signatures.size() == 1);
  CHECK(set.signatures[0].id == "OWN1");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].where == "own.yaml:14:8");
  CHECK(warnings[0].hint == "grep {value} a.tab");
  CHECK_THROWS_AS(parse_signatures(good + wrong, "own.yaml", &warnings), ddlrun::Error);
}

TEST_CASE("a pattern with the syntax of a regular expression gives a warning with the form to use") {
  struct Row {
    const char *pattern, *form;
  };
  const Row rows[] = {
      {"^slurm_prolog: .* failed with code \\d+$", "match: 'slurm_prolog: {*} failed with code '"},
      {"^the solver stopped$", "match: 'the solver stopped{end}'"},
      {"table \\w+ is full", "match: 'table {*} is full'"}};
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    std::string text = good;
    const std::string from = "['our own text {value}']";
    text.replace(text.find(from), from.size(), "'" + std::string(row.pattern) + "'");
    std::vector<ddlrun::Message> warnings;
    CHECK(parse_signatures(text, "own.yaml", &warnings).signatures.size() == 1);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].what.find("no regular expression") != std::string::npos);
    CHECK(warnings[0].where == "own.yaml:5:10");
    CHECK(warnings[0].hint.starts_with(row.form));
  }
  std::vector<ddlrun::Message> warnings;
  parse_signatures(good, "own.yaml", &warnings);
  CHECK(warnings.empty());
}

TEST_SUITE_END();
