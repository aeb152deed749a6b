// SPDX-License-Identifier: MIT
// The scanner finds what std::string::find finds, wherever it lies.
#include "doctor/diagnose/literal_scanner.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using ddlrun::diagnose::LiteralScanner;

namespace {

std::string random_text(std::mt19937_64& random, std::size_t length) {
  std::string text;
  while (text.size() < length) text += "abcde \n"[random() % 7];
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/literal_scanner");

TEST_CASE("find_all finds the literals that lie in a text and no others") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> literals;
    while (literals.size() < 12) literals.push_back(random_text(random, 6 + random() % 20));
    std::sort(literals.begin(), literals.end());
    literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
    std::string text = random_text(random, random() % 300);
    for (int i = 0; i < 3; ++i)
      text.insert(random() % (text.size() + 1), literals[random() % literals.size()]);
    const LiteralScanner scanner(literals);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < literals.size(); ++i) {
      if (text.find(literals[i]) != std::string::npos) expected.push_back(i);
    }
    CAPTURE(text);
    CHECK(scanner.find_all(text) == expected);
  }
}

TEST_CASE("find finds a literal in the first line that has one") {
  const LiteralScanner scanner({"orted: command not found", "Killed", "Unknown Job Id"});
  const std::string filler(1000, 'x');
  for (std::size_t shift = 0; shift < 40; ++shift) {
    const std::string text = filler.substr(0, shift) + "\nbash: orted: command not found\nKilled\n";
    const auto hit = scanner.find(text, 0);
    CHECK(hit.at == shift + 7);
    CHECK(hit.literal == 0);
    const auto next = scanner.find(text, text.find('\n', hit.at));
    CHECK(next.literal == 1);
    CHECK(!scanner.find(text, next.at + 1).found());
  }
}

TEST_CASE("a short literal is refused") { CHECK_THROWS(LiteralScanner({"short"})); }

TEST_SUITE_END();
