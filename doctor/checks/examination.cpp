// SPDX-License-Identifier: MIT
#include "doctor/checks/examination.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <system_error>
#include <thread>

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

CheckChoice with_path_check(CheckChoice choice, std::size_t paths) {
  if (paths > 1 && !choice.only.empty()) choice.only.emplace_back("PATH-01");
  return choice;
}

const Check& find_check(const std::string& id, std::span<const Check> checks) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.id == upper(id); });
  if (found == checks.end()) refuse_check_name(id, checks);
  return *found;
}

namespace {

std::vector<Finding> run_safely(const Check& check, const CheckInput& input) {
  try {
    return check.run(input);
  } catch (const std::exception& error) {
    CheckResult result;
    result.verdict = Verdict::error;
    result.observed = fmt::format("the check failed with an error: {}", error.what());
    return single_finding(check.id, std::move(result));
  }
}

// Checks are pure: over thousands of hosts they share the cores.
std::vector<std::vector<Finding>> run_each(std::span<const Check> checks, const CheckInput& input) {
  constexpr std::size_t hosts_worth_a_thread = 512, most_threads = 8;
  std::vector<std::vector<Finding>> findings(checks.size());
  std::atomic<std::size_t> next{0};
  const auto run_some = [&] {
    for (std::size_t i = next++; i < checks.size(); i = next++) findings[i] = run_safely(checks[i], input);
  };
  const std::size_t wanted = std::min<std::size_t>(
      {most_threads, std::thread::hardware_concurrency(), input.hosts.size() / hosts_worth_a_thread});
  std::vector<std::jthread> threads;
  try {
    while (threads.size() + 1 < wanted) threads.emplace_back(run_some);
  } catch (const std::system_error&) {  // no more threads for this user: those that there are do it
  }
  run_some();
  threads.clear();
  return findings;
}

}  // namespace

std::vector<Finding> run_checks(std::span<const Check> checks, const CheckInput& input,
                                const std::vector<std::string>& warn) {
  std::vector<Finding> findings;
  for (std::vector<Finding>& some : run_each(checks, input))
    std::move(some.begin(), some.end(), std::back_inserter(findings));
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
