// SPDX-License-Identifier: MIT
#include "doctor/report/baseline.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace ddlrun::doctor {

namespace {

constexpr std::string_view baseline_id = "BASE-01";

std::vector<Finding> not_run(const CheckInput&) {
  return single_finding(baseline_id, skip("needs --baseline compare"));
}

std::string shown(const std::string& value) {
  std::string one_line = value.empty() ? "(empty)" : value;
  std::replace(one_line.begin(), one_line.end(), '\n', ' ');
  return printable(one_line, 80);
}

std::string fact_value(const Facts& facts, const std::string& name) {
  const auto value = facts.text(name);
  return value ? shown(std::string(*value)) : "not known";
}

struct Change {
  std::string fact, was, is;
  auto operator<=>(const Change&) const = default;
};

void add_changes(const Facts& before, const HostReport& now,
                 std::map<Change, std::vector<std::string>>& changes) {
  for (const auto& [name, fact] : before.all()) {
    if (now.facts.has(name) && fact_value(before, name) == fact_value(now.facts, name)) continue;
    changes[{name, fact_value(before, name), fact_value(now.facts, name)}].push_back(now.host);
  }
  for (const auto& [name, fact] : now.facts.all()) {
    if (!fact.known || !is_stable(name) || before.has(name)) continue;
    changes[{name, "not there", fact_value(now.facts, name)}].push_back(now.host);
  }
}

Finding finding_of_change(const Change& change, std::vector<std::string> hosts, const std::string& saved_at,
                          const std::string& all_hosts) {
  Finding finding;
  finding.id = baseline_id;
  finding.verdict = Verdict::warn;
  finding.hosts = std::move(hosts);
  finding.observed = fmt::format("{} is {}", change.fact, change.is);
  finding.expected = fmt::format("{}, as on {}", change.was, saved_at);
  finding.why = "it changed since the run whose facts were kept";
  finding.remedy.commands = {fmt::format("ddlrun doctor {} --baseline save", all_hosts)};
  finding.remedy.on_driver_host = true;
  finding.remedy.note = "only if the change is wanted; else put the old value back there";
  return finding;
}

}  // namespace

bool is_stable(std::string_view fact) {
  // What the scheduler is doing, and answers to the names of one job.
  if (fact.starts_with("scheduler.") || fact == "name.table" || fact == "name.left_out") return false;
  constexpr std::array words{"load",      "free",        "available",    "used",  "uptime",
                             "clock",     "time",        "pid",          "error", "counter",
                             "processes", "temperature", "running",      "swap",  "ssh_agent",
                             "busy",      "seconds",     "milliseconds", "delta", "entropy",
                             "session",   "token",       "modified",     "open",  "slowest"};
  std::size_t at = 0;
  while (at <= fact.size()) {
    const std::size_t end = std::min(fact.find_first_of("._", at), fact.size());
    const std::string_view word = fact.substr(at, end - at);
    if (std::find(words.begin(), words.end(), word) != words.end()) return false;
    at = end + 1;
  }
  return true;
}

Baseline make_baseline(std::span<const HostReport> hosts, std::string saved_at) {
  Baseline baseline;
  baseline.saved_at = std::move(saved_at);
  for (const HostReport& host : hosts) {
    if (!host.reach.problem.empty()) continue;
    Facts& kept = baseline.hosts[host.host];
    for (const auto& [name, fact] : host.facts.all()) {
      if (fact.known && is_stable(name)) kept.set(name, fact.text);
    }
  }
  return baseline;
}

std::vector<Finding> compare_with_baseline(const Baseline& baseline, std::span<const HostReport> hosts) {
  std::map<Change, std::vector<std::string>> changes;
  std::vector<std::string> unknown, same;
  for (const HostReport& host : hosts) {
    if (!host.reach.problem.empty()) continue;
    const auto before = baseline.hosts.find(host.host);
    if (before == baseline.hosts.end()) {
      unknown.push_back(host.host);
      continue;
    }
    add_changes(before->second, host, changes);
    same.push_back(host.host);
  }
  std::vector<Finding> findings;
  std::vector<std::string> names;
  for (const HostReport& host : hosts) names.push_back(host.host);
  const std::string all_hosts = quote_shell(fold_host_list(names, max_hosts));
  for (auto& [change, changed] : changes) {
    findings.push_back(finding_of_change(change, std::move(changed), baseline.saved_at, all_hosts));
  }
  if (!unknown.empty()) {
    auto some = single_finding(baseline_id, skip("the baseline lacks this host"), unknown);
    findings.push_back(std::move(some.front()));
  }
  if (changes.empty() && !same.empty()) {
    auto some = single_finding(baseline_id, pass(fmt::format("as on {}", baseline.saved_at)), same);
    findings.push_back(std::move(some.front()));
  }
  return findings;
}

const Check& baseline_check() {
  static const Check check{
      baseline_id,
      "as at the last good run",
      Level::quick,
      Place::host,
      "A cluster that worked yesterday and fails today has changed somewhere: a driver, a limit, a mount.",
      "All facts that the gatherers read, but for those that change by themselves, beside those that "
      "--baseline save kept. Any difference is a warn.",
      "Put the old value back, or keep the new one with --baseline save.",
      not_run};
  return check;
}

}  // namespace ddlrun::doctor
