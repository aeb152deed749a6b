// SPDX-License-Identifier: MIT
#include "doctor/diagnose/result_lines.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/words.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t longest_result = 200;

// "-1.23E+02", "42", "12%"
bool is_figure_word(std::string_view word) {
  if (word.ends_with('%')) word.remove_suffix(1);
  return parse_number(word).has_value();
}

bool is_measurement(std::string_view word) {
  return is_figure_word(word) && has_any(word, {".", "e-", "e+", "E-"});
}

// "3/10"
bool is_fraction(std::string_view word) {
  const std::size_t slash = word.find('/');
  return slash != npos && parse_unsigned(word.substr(0, slash)) && parse_unsigned(word.substr(slash + 1));
}

}  // namespace

bool is_result(std::string_view text) {
  // Places, versions and addresses have numbers too, as has the accounting of a batch system.
  constexpr std::array others = {"ersion",    "0x",      "://",      " line ",    "pid",
                                 "PID",       "errno",   "signal",   "->",        "port",
                                 "fficiency", "tilized", "emory",    "CPU time",  "CPU Time",
                                 "alltime",   "cput=",   "Run time", "urnaround", "Submitted"};
  constexpr std::array of_sentence = {" the ", " is ", " are ", " was ", " be ", " you ", " your ", " that "};
  if (has_any(text, of_sentence)) return false;
  if (text.size() > longest_result || text.starts_with("[ ") || has_any(text, others)) return false;
  const std::vector<std::string_view> words = split_blanks(text, " \t=,;:()[]|");
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    numbers += is_figure_word(words[i]) ? 1 : 0;
    // "rank 0 of 1" is what each of several processes prints that take themselves for a job of one.
    const std::size_t before = i > 1 && words[i - 1] == "out" ? i - 2 : i - 1;
    const bool of = words[i] == "of" && i > 0 && i + 1 < words.size() && is_figure_word(words[before]) &&
                    is_figure_word(words[i + 1]) && words[i + 1] != "1";
    if (of || is_measurement(words[i]) || is_fraction(words[i])) return true;
  }
  if (words.size() == 2 && !has(text, ":"))
    return is_figure_word(words[1]);  // "step 1", no field of a message
  return numbers >= 2 && numbers * 2 > words.size();
}

}  // namespace ddlrun::diagnose
