// SPDX-License-Identifier: MIT
// Every signature has a log that shows it and one that nearly does; none is taken for another; the topics of
// Open MPI that it names exist.
#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;
using ddlrun::tests::Example;
using ddlrun::tests::read_examples;

namespace {

bool is_seen(const Diagnosis& diagnosis, const std::string& id) {
  if (diagnosis.cause && diagnosis.cause->id == id) return true;
  const auto& others = diagnosis.also_seen;
  return std::any_of(others.begin(), others.end(), [&](const Finding& finding) { return finding.id == id; });
}

const Finding* find_seen(const Diagnosis& diagnosis, const std::string& id) {
  if (diagnosis.cause && diagnosis.cause->id == id) return &*diagnosis.cause;
  for (const Finding& finding : diagnosis.also_seen) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

// SalientLine neither by a text nor by a status: only --explain has them.
bool can_be_found(const Signature& signature) {
  return !signature.patterns.empty() || !signature.topics.empty() || !signature.facts.empty();
}

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/signatures");

TEST_CASE("every signature has a positive example and a near miss") {
  std::map<std::string, std::set<bool>> kinds;
  for (const Example& example : read_examples()) kinds[example.id].insert(example.positive);
  for (const Signature& signature : builtin_signatures()->signatures) {
    CAPTURE(signature.id);
    if (!can_be_found(signature)) continue;
    CHECK(kinds[signature.id].count(true) == 1);
    CHECK(kinds[signature.id].count(false) == 1);
  }
  for (const auto& [id, seen] : kinds) {
    CAPTURE(id);
    CHECK(find_signature(*builtin_signatures(), id) != nullptr);
  }
}

TEST_CASE("no two signatures have the same id") {
  std::set<std::string> ids;
  for (const Signature& signature : builtin_signatures()->signatures) {
    CAPTURE(signature.id);
    CHECK(ids.insert(signature.id).second);
  }
}

TEST_CASE("a positive example is diagnosed as its own signature only") {
  for (const Example& example : read_examples()) {
    if (!example.positive) continue;
    CAPTURE(example.id);
    CAPTURE(example.line);
    const Diagnosis diagnosis = diagnose_text(example.text, example.end);
    const SignatureClass kind = find_signature(*builtin_signatures(), example.id)->kind;
    CHECK(is_seen(diagnosis, example.id));
    if (kind <= SignatureClass::ending) {
      REQUIRE(diagnosis.cause);
      CHECK(diagnosis.cause->id == example.id);
      CHECK(exit_code(diagnosis) == 1);
    } else {
      CHECK(!diagnosis.cause);
    }
    if (kind == SignatureClass::benign) CHECK(exit_code(diagnosis) == 0);
    const Finding* found = find_seen(diagnosis, example.id);
    if (found == nullptr) continue;
    if (!example.host.empty()) CHECK(found->place.host == example.host);
    if (example.rank >= 0) CHECK(found->place.rank.value_or(9999) == static_cast<unsigned>(example.rank));
    for (const std::string& remedy : found->remedies) {
      for (const char* name :
           {"{host}", "{rank}", "{value}", "{status}", "{signal}", "{number}", "{tagged}", "{try}"})
        CHECK(remedy.find(name) == std::string::npos);
    }
  }
}

TEST_CASE("a near miss is not diagnosed as the signature") {
  for (const Example& example : read_examples()) {
    if (example.positive) continue;
    CAPTURE(example.id);
    CAPTURE(example.line);
    CHECK(!is_seen(diagnose_text(example.text, example.end), example.id));
  }
}

TEST_CASE("help topics of Open MPI 4 and 5 match by name alone") {
  struct Row {
    const char* line;
    const char* id;
  };
  const Row rows[] = {
      {"[n1:1] 1 more process has sent help message help-rmaps_rank_file.txt / bad-host", "B1"},
      {"[n1:1] 3 more processes have sent help message help-mpi-btl-tcp.txt / client connect fail", "D2"},
      {"[n1:1] 2 more processes have sent help message help-prte-rmaps-base.txt / "
       "prte-rmaps-base:alloc-error",
       "B14"},
      {"[n1:1] 7 more processes have sent help message help-orterun.txt / orterun:exe-not-found", "C22"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Diagnosis diagnosis = diagnose_text(std::string(row.line) + "\n");
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
  }
  CHECK(!diagnose_text("[n1:1] 1 more process has sent help message help-x.txt / parse_error\n").cause);
}

namespace {

const std::filesystem::path help_files = "/usr/share/openmpi";

// The text of a topic as Open MPI would print it, with something in place of each %s and %d; "" if it is not
// there.
std::string printed_help(const HelpTopic& topic) {
  std::ifstream file(help_files / topic.file);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with('['))
      inside = line == "[" + topic.topic + "]";
    else if (inside)
      text += line + "\n";
  }
  return std::regex_replace(text, std::regex("%[0-9]*l*[a-z]"), "7");
}

}  // namespace

TEST_CASE("each topic's own text, as Open MPI has it installed, is recognized") {
  if (!std::filesystem::exists(help_files / "help-orterun.txt")) {
    MESSAGE("skipped: Open MPI's help files are not in /usr/share/openmpi");
    return;
  }
  int tested = 0;
  for (const Signature& signature : builtin_signatures()->signatures) {
    for (const HelpTopic& topic : signature.topics) {
      if (!std::filesystem::exists(help_files / topic.file)) continue;  // of another version of Open MPI
      ++tested;
      CAPTURE(topic.file);
      CAPTURE(topic.topic);
      const std::string text = printed_help(topic);
      REQUIRE(!text.empty());
      // What these are recognized by is filled in.
      if (topic.topic == "simple-message" || topic.topic == "btl:no-nics") continue;
      // Two rows of the table differ in one sentence of the same message.
      const std::string id = topic.topic == "slurm-error" ? "X21" : signature.id;
      CHECK(is_seen(diagnose_text(text), id));
    }
  }
  CHECK(tested > 80);
}

// limits.conf(5): a limit of "*" is not applied to root. Doctor's LIM-01 writes the same file.
TEST_CASE("remedies that raise memlock write the file of doctor, with a line for root") {
  const std::string file =
      "printf '* - memlock unlimited\\nroot - memlock unlimited\\n' | sudo tee "
      "/etc/security/limits.d/zz-ddlrun-memlock.conf";
  int found = 0;
  for (const Signature& signature : builtin_signatures()->signatures) {
    for (const std::string& remedy : signature.remedies) {
      if (remedy.find("limits.d/") == std::string::npos) continue;
      CAPTURE(signature.id);
      CHECK(remedy.starts_with(file));
      ++found;
    }
  }
  CHECK(found > 4);
}

TEST_SUITE_END();
