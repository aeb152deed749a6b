// SPDX-License-Identifier: MIT
#include "doctor/checks/examination.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>

namespace ddlrun::doctor {

namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// "LIM-01", or all of "LIM".
bool means(const std::string& word, std::string_view id) {
  const std::string wanted = upper(word);
  return id == wanted || (id.starts_with(wanted) && id.substr(wanted.size()).starts_with('-'));
}

bool means_any(std::span<const std::string> words, std::string_view id) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return means(word, id); });
}

[[noreturn]] void refuse_check_name(const std::string& word, std::span<const Check> checks) {
  std::vector<std::string> known;
  for (const Check& check : checks) known.emplace_back(check.id);
  const auto near = closest_match(upper(word), known);
  throw Error(ErrorKind::usage, {fmt::format("there is no check '{}'", printable(word, 40)), "",
                                 near ? fmt::format("{}; all of them: ddlrun doctor --list-checks", *near)
                                      : "ddlrun doctor --list-checks"});
}

void check_words(std::span<const std::string> words, std::span<const Check> checks) {
  for (const std::string& word : words) {
    const bool known =
        std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return means(word, check.id); });
    if (!known) refuse_check_name(word, checks);
  }
}

int weight(Verdict verdict) {
  switch (verdict) {
    case Verdict::skip:
      return 0;
    case Verdict::pass:
      return 1;
    case Verdict::warn:
      return 2;
    case Verdict::error:
      return 3;
    case Verdict::fail:
      return 4;
  }
  return 3;
}

}  // namespace

std::vector<Check> choose_checks(const CheckChoice& choice, std::span<const Check> checks) {
  check_words(choice.only, checks);
  check_words(choice.skip, checks);
  check_words(choice.warn, checks);
  std::vector<Check> chosen;
  for (const Check& check : checks) {
    // A check that is named runs at any level: a missing fact makes it a skip with the reason.
    const bool wanted = choice.only.empty() ? check.level <= choice.level : means_any(choice.only, check.id);
    if (wanted && !means_any(choice.skip, check.id)) chosen.push_back(check);
  }
  return chosen;
}

const Check& find_check(const std::string& id, std::span<const Check> checks) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.id == upper(id); });
  if (found == checks.end()) refuse_check_name(id, checks);
  return *found;
}

std::vector<Finding> run_checks(std::span<const Check> checks, const CheckInput& input,
                                const std::vector<std::string>& warn) {
  std::vector<Finding> findings;
  for (const Check& check : checks) {
    try {
      std::vector<Finding> some = check.run(input);
      std::move(some.begin(), some.end(), std::back_inserter(findings));
    } catch (const std::exception& error) {
      CheckResult result;
      result.verdict = Verdict::error;
      result.observed = fmt::format("the check failed with an error: {}", error.what());
      std::vector<Finding> broken = single_finding(check.id, std::move(result));
      findings.push_back(std::move(broken.front()));
    }
  }
  for (Finding& finding : findings) {
    if (finding.verdict == Verdict::fail && means_any(warn, finding.id)) finding.verdict = Verdict::warn;
  }
  return findings;
}

Summary count_checks(std::span<const Finding> findings) {
  std::map<std::string_view, Verdict> worst;
  for (const Finding& finding : findings) {
    const auto [place, is_new] = worst.emplace(finding.id, finding.verdict);
    if (!is_new && weight(finding.verdict) > weight(place->second)) place->second = finding.verdict;
  }
  Summary summary;
  for (const auto& [id, verdict] : worst) ++summary.of[static_cast<std::size_t>(verdict)];
  summary.checks = static_cast<int>(worst.size());
  return summary;
}

}  // namespace ddlrun::doctor
