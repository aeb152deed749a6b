// SPDX-License-Identifier: MIT
// The command lines of ddlrun in the remedies of diagnose: the real command line reads their options and
// values.
#include "base/text/text.hpp"
#include "cli/app.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace ddlrun;

TEST_SUITE_BEGIN("cli/remedy_commands");

namespace {

// What stands for a word that the user fills in.
std::string example_of(const std::string& word) {
  static const std::map<std::string, std::string> known = {
      {"DIMS", "2x2"}, {"HOSTS", "n1,n2"}, {"HOST", "n1"}, {"N", "2"}, {"JOB", "1234"}, {"PROGRAM", "true"}};
  const auto at = known.find(word);
  return at == known.end() ? word : at->second;
}

// "ddlrun launch names a rank" is a sentence.
bool is_command_line(const std::vector<std::string_view>& words) {
  if (words.size() < 2) return false;
  if (words.size() == 2) return true;
  const char first = words[2].front();
  return std::string_view("-.#>").find(first) != std::string_view::npos || (first >= 'A' && first <= 'Z') ||
         words[2] == "last";
}

// Without the name "ddlrun"; empty for a sentence.
std::vector<std::string> command_in(std::string_view text) {
  text = text.substr(0, text.find_first_of("#;|>"));
  const std::vector<std::string_view> all = split_blanks(text);
  if (!is_command_line(all)) return {};
  std::vector<std::string> words;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] != "...") words.push_back(example_of(std::string(all[i])));
  return words;
}

std::vector<std::vector<std::string>> commands_of(const std::string& remedy) {
  constexpr std::string_view name = "ddlrun ";
  std::vector<std::vector<std::string>> commands;
  for (std::size_t at = remedy.find(name); at != std::string::npos; at = remedy.find(name, at + 1)) {
    auto words = command_in(std::string_view(remedy).substr(at));
    if (!words.empty()) commands.push_back(std::move(words));
  }
  return commands;
}

int exit_status_of(const std::vector<std::string>& words, std::string& err) {
  tests::FakeSystem fake;
  const int status = cli::run_app(words, fake.interfaces());
  err = fake.err;
  return status;
}

}  // namespace

TEST_CASE("ddlrun reads each of its command lines that diagnose proposes") {
  constexpr int usage_error = 2;
  std::size_t count = 0;
  for (const diagnose::Signature& signature : diagnose::builtin_signatures()->signatures) {
    diagnose::TemplateValues with;
    with.place.host = "n1";
    for (const std::string& remedy : diagnose::finding_of(signature, with).remedies) {
      for (const auto& words : commands_of(remedy)) {
        std::string err;
        CAPTURE(signature.id);
        CAPTURE(remedy);
        const int status = exit_status_of(words, err);
        CAPTURE(err);
        CHECK(status != usage_error);
        ++count;
      }
    }
  }
  CHECK(count >= 40);  // `grep -c 'ddlrun [a-z]' signatures/*.yaml` without the sentences
}

TEST_CASE("a value that the command line refuses is found") {
  std::string err;
  const auto commands =
      commands_of("as here: ddlrun launch --stall-timeout 10m -- PROGRAM   # a number is wanted");
  REQUIRE(commands.size() == 1);
  CHECK(exit_status_of(commands.front(), err) == 2);
}

TEST_SUITE_END();
