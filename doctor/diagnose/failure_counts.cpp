// SPDX-License-Identifier: MIT
#include "doctor/diagnose/failure_counts.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::string_view word_ends = ",;:()[]|=";

std::string_view without_word_ends(std::string_view word) {
  while (!word.empty() && has(word_ends, word.substr(0, 1))) word.remove_prefix(1);
  while (!word.empty() && has(word_ends, word.substr(word.size() - 1))) word.remove_suffix(1);
  return word;
}

bool ends_clause(std::string_view word) {
  return !word.empty() && has(word_ends, word.substr(word.size() - 1));
}

bool is_failure_word(std::string_view word) {
  constexpr std::array words = {"ERROR", "ERRORS", "FAILED",  "FAILURE", "FAILURES",
                                "FATAL", "KILLED", "ABORTED", "CRASHED"};
  const std::string upper = to_upper(without_word_ends(word));
  return std::ranges::any_of(words, [&](std::string_view one) { return upper == one; });
}

// "0 failed", "0 files failed", "with 0 errors"; "rank 0 failed" has no count.
bool has_zero_before(const std::vector<std::string_view>& words, std::size_t at) {
  constexpr std::array leads = {"with", "and", "of", "had", "has", "found", "are", "were", "reported"};
  for (std::size_t back = 1; back <= 3 && back <= at; ++back) {
    const std::size_t zero = at - back;
    if (back > 1 && ends_clause(words[zero + 1])) return false;
    if (words[zero] != "0") continue;
    return zero == 0 || ends_clause(words[zero - 1]) ||
           std::ranges::any_of(leads, [&](std::string_view lead) { return words[zero - 1] == lead; });
  }
  return false;
}

bool ends_after(const std::vector<std::string_view>& words, std::size_t at) {
  return at + 1 >= words.size() || has(",;)]|", words[at].substr(words[at].size() - 1));
}

// "failed: 0", "errors=0", "failed steps: 0", "killed 0 walkers"; "ERROR: 0 GPUs" counts something else.
bool has_zero_behind(const std::vector<std::string_view>& words, std::size_t at) {
  for (std::size_t next = at + 1; next < words.size() && next <= at + 3; ++next) {
    const std::string_view word = without_word_ends(words[next]);
    const bool is_value = ends_clause(words[next - 1]);
    const std::string upper = to_upper(words[at]);
    const bool is_verb = upper == "KILLED" || upper == "ABORTED" || upper == "CRASHED" || upper == "FAILED";
    const bool is_direct = next == at + 1 && (is_verb || (upper != "ERROR" && ends_after(words, next)));
    if (word == "0") return (is_value && ends_after(words, next)) || is_direct;
    if (is_value) return false;
  }
  return false;
}

// "errors=0" -> "errors=", "0"
std::vector<std::string_view> split_values(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word : split_blanks(text)) {
    for (std::size_t end = word.find_first_of("=(:"); end != npos && end + 1 < word.size();
         end = word.find_first_of("=(:")) {
      words.push_back(word.substr(0, end + 1));
      word.remove_prefix(end + 1);
    }
    words.push_back(word);
  }
  return words;
}

}  // namespace

bool counts_no_failure(std::string_view text) {
  const std::vector<std::string_view> words = split_values(text);
  bool has_count = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_failure_word(words[i])) continue;
    if (!has_zero_before(words, i) && !has_zero_behind(words, i)) return false;
    has_count = true;
  }
  return has_count;
}

bool is_table_header(std::string_view text) {
  constexpr std::size_t least_columns = 5, longest_name = 14, widest_gap = 2;
  text = trim(text);
  if (text.starts_with('#')) text = trim(text.substr(1));
  std::size_t columns = 0;
  bool has_error = false;
  while (!text.empty()) {
    const std::size_t gap = std::min(text.find("  "), text.find('\t'));
    const std::string_view name = trim(text.substr(0, gap));
    const auto is_of_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             has("()/%_# -", std::string_view(&c, 1));
    };
    const bool is_number = name.find_first_not_of("0123456789.%-") == npos;  // a row, not the head
    if (is_number || name.size() > longest_name || !std::ranges::all_of(name, is_of_name) ||
        static_cast<std::size_t>(std::ranges::count(name, ' ')) >= widest_gap)
      return false;
    const std::string upper = to_upper(name);
    has_error = has_error || upper == "ERROR" || upper == "ERRORS" || upper == "FAILED";
    ++columns;
    text = gap == npos ? std::string_view() : trim(text.substr(gap));
  }
  return has_error && columns >= least_columns;
}

bool is_passed_test(std::string_view text) {
  text = trim(text);
  if (text.starts_with("ok ") && text.size() > 3 && text[3] >= '0' && text[3] <= '9') return true;
  if (const std::size_t of_pytest = text.rfind(" PASSED"); of_pytest != npos && has(text, "::")) {
    const std::string_view rest = trim(text.substr(of_pytest + 7));  // "[ 33%]"
    return rest.empty() || (rest.starts_with('[') && rest.ends_with("%]"));
  }
  const std::size_t dots = text.rfind("... ");
  if (dots == npos) return false;
  const std::string_view verdict = trim(text.substr(dots + 4));
  return verdict == "ok" || verdict == "OK" || verdict == "PASSED" || verdict.starts_with("Passed");
}

bool is_test_summary(std::string_view text) {
  const std::vector<std::string_view> words = split_blanks(text, " \t=,");
  bool has_count = false, has_time = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_kind = words[i + 1] == "passed" || words[i + 1] == "failed" || words[i + 1] == "error" ||
                         words[i + 1] == "errors";
    has_count = has_count || (is_kind && parse_unsigned(words[i]).has_value());
    has_time = has_time || (words[i] == "in" && words[i + 1].ends_with('s'));
  }
  return has_count && has_time;
}

bool is_passed_summary(std::string_view text) {
  return is_test_summary(text) && has(text, " passed") && !has_any(text, {" failed", " error"});
}

bool states_setting(std::string_view text) {
  constexpr std::array states = {"SCORE ADJUSTED TO ", "TIMEOUT SET TO ",    "LIMIT SET TO ",
                                 "HANDLER REGISTERED", "HANDLER INSTALLED",  "HANDLERS INSTALLED",
                                 "HANDLER SET",        "ABORT THRESHOLD: ",  "ERROR THRESHOLD: ",
                                 "CODES ENABLED",      "HANDLERS REGISTERED"};
  constexpr std::array failures = {"ERROR:", "FAIL",   "CANNOT",   "COULD NOT",
                                   "KILLED", "EXCEED", "ABORTING", "EXPIRED"};
  const std::string upper = to_upper(text);
  // "Abort threshold: 5 failures" has the word in its value.
  const std::string_view head = std::string_view(upper).substr(0, upper.find("THRESHOLD: "));
  return has_any(upper, states) && !has_any(head, failures);
}

bool is_error_quantity(std::string_view text) {
  constexpr std::array kinds = {"RMS",        "RELATIVE",
                                "REL",        "ABSOLUTE",
                                "ABS",        "MEAN",
                                "MAX",        "MAXIMUM",
                                "MIN",        "TEST",
                                "TRAIN",      "TRAINING",
                                "VALIDATION", "VAL",
                                "RESIDUAL",   "L1",
                                "L2",         "LINF",
                                "SQUARE",     "SQUARED",
                                "AVERAGE",    "AVG",
                                "STANDARD",   "STD",
                                "TRUNCATION", "DISCRETIZATION",
                                "TOP1",       "TOP-1",
                                "TOP5",       "TOP-5",
                                "ROUNDING",   "RECONSTRUCTION",
                                "PREDICTION", "GENERALIZATION",
                                "PERCENTAGE"};
  constexpr std::array measures = {"NORM", "RATE", "ESTIMATE", "BOUND"};
  const std::vector<std::string_view> words = split_values(text);
  bool has_quantity = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = to_upper(without_word_ends(words[i]));
    if (word != "ERROR" && word != "ERRORS") continue;
    const auto is_one_of = [&](const auto& some, std::size_t at) {
      return at < words.size() &&
             std::ranges::find(some, to_upper(without_word_ends(words[at]))) != some.end();
    };
    const bool is_measured = is_one_of(measures, i + 1);
    std::size_t value = i + (is_measured ? 2 : 1);
    if (value < words.size() && without_word_ends(words[value]) == "is") ++value;
    std::string_view number = value < words.size() ? without_word_ends(words[value]) : std::string_view();
    if (number.ends_with('%')) number.remove_suffix(1);
    if (!parse_number(number) || (!is_measured && (i == 0 || !is_one_of(kinds, i - 1)))) return false;
    has_quantity = true;
  }
  return has_quantity;
}

}  // namespace ddlrun::diagnose
