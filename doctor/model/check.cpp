// SPDX-License-Identifier: MIT
#include "doctor/model/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::doctor {

namespace {

bool same(const Finding& finding, const Judgement& judgement) {
  return finding.verdict == judgement.verdict && finding.observed == judgement.observed &&
         finding.expected == judgement.expected && finding.why == judgement.why &&
         finding.remedy == judgement.remedy;
}

Finding finding_of(std::string_view id, Judgement judgement) {
  return {std::string(id),
          judgement.verdict,
          {},
          std::move(judgement.observed),
          std::move(judgement.expected),
          std::move(judgement.why),
          std::move(judgement.remedy)};
}

// Equal judgements share one finding; the newest are looked at first, as neighbours are mostly equal.
void add(std::vector<Finding>& findings, std::string_view id, const std::string& host, Judgement judgement) {
  for (auto at = findings.rbegin(); at != findings.rend(); ++at) {
    if (!same(*at, judgement)) continue;
    at->hosts.push_back(host);
    return;
  }
  findings.push_back(finding_of(id, std::move(judgement)));
  findings.back().hosts.push_back(host);
}

Judgement broken(std::string_view gatherer, const std::string& why) {
  Judgement judgement;
  judgement.verdict = Verdict::error;
  judgement.observed = fmt::format("the gatherer '{}' failed there: {}", gatherer, why);
  return judgement;
}

Judgement judge_safely(const HostReport& host, const std::function<Judgement(const HostReport&)>& judge,
                       std::string_view gatherer) {
  const auto failed = host.failed_gatherers.find(std::string(gatherer));
  if (failed != host.failed_gatherers.end()) return broken(gatherer, failed->second);
  return judge(host);
}

std::string render_groups(const std::vector<ValueGroup>& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < 4; ++i) {
    text += fmt::format("{}{} on {} host{}", i == 0 ? "" : "; ", groups[i].value, groups[i].hosts.size(),
                        groups[i].hosts.size() == 1 ? "" : "s");
  }
  if (groups.size() > 4) text += fmt::format("; {} more values", groups.size() - 4);
  return text;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
    case Verdict::skip:
      return "skip";
    case Verdict::error:
      return "error";
  }
  return "error";
}

std::string_view level_name(Level level) {
  switch (level) {
    case Level::quick:
      return "quick";
    case Level::full:
      return "full";
    case Level::stress:
      return "stress";
  }
  return "quick";
}

std::string_view via_name(Via via) {
  switch (via) {
    case Via::ssh:
      return "ssh";
    case Via::srun:
      return "srun";
    case Via::pbsdsh:
      return "pbsdsh";
    case Via::mpirun:
      return "mpirun";
    case Via::local:
      return "local";
  }
  return "ssh";
}

Judgement pass(std::string observed) { return {Verdict::pass, std::move(observed), "", "", {}}; }
Judgement skip(std::string reason) { return {Verdict::skip, std::move(reason), "", "", {}}; }

Judgement warn(std::string observed, std::string expected, std::string why, Remedy remedy) {
  return {Verdict::warn, std::move(observed), std::move(expected), std::move(why), std::move(remedy)};
}

Judgement fail(std::string observed, std::string expected, std::string why, Remedy remedy) {
  return {Verdict::fail, std::move(observed), std::move(expected), std::move(why), std::move(remedy)};
}

std::string count_of(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::vector<Finding> judge_each(const CheckInput& input, std::string_view id,
                                const std::function<Judgement(const HostReport&)>& judge,
                                std::string_view gatherer) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    if (host.reach.problem.empty()) add(findings, id, host.host, judge_safely(host, judge, gatherer));
  }
  return findings;
}

std::vector<ValueGroup> group_by_value(
    const CheckInput& input, const std::function<std::optional<std::string>(const HostReport&)>& value) {
  std::vector<ValueGroup> groups;
  std::map<std::string, std::size_t> place;
  for (const HostReport& host : input.hosts) {
    if (!host.reach.problem.empty()) continue;
    const auto seen = value(host);
    if (!seen) continue;
    const auto [at, is_new] = place.emplace(*seen, groups.size());
    if (is_new) groups.push_back({*seen, {}});
    groups[at->second].hosts.push_back(host.host);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ValueGroup& a, const ValueGroup& b) { return a.hosts.size() > b.hosts.size(); });
  return groups;
}

std::vector<Finding> check_equal(const CheckInput& input, std::string_view id, Verdict otherwise,
                                 const std::function<std::optional<std::string>(const HostReport&)>& value,
                                 const Judgement& words, std::string_view missing) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    if (host.reach.problem.empty() && !value(host)) add(findings, id, host.host, skip(std::string(missing)));
  }
  const std::vector<ValueGroup> groups = group_by_value(input, value);
  if (groups.empty()) return findings;
  if (groups.size() == 1) {
    findings.push_back(finding_of(id, pass(groups[0].value)));
    findings.back().hosts = groups[0].hosts;
    return findings;
  }
  Judgement judgement = words;
  judgement.verdict = otherwise;
  judgement.observed = render_groups(groups);
  if (judgement.expected.empty()) judgement.expected = fmt::format("{}, as on most", groups[0].value);
  findings.push_back(finding_of(id, std::move(judgement)));
  for (std::size_t i = 1; i < groups.size(); ++i) {
    auto& hosts = findings.back().hosts;
    hosts.insert(hosts.end(), groups[i].hosts.begin(), groups[i].hosts.end());
  }
  return findings;
}

std::vector<Finding> judge_once(std::string_view id, Judgement judgement, std::vector<std::string> hosts) {
  Finding finding = finding_of(id, std::move(judgement));
  finding.hosts = std::move(hosts);
  return {std::move(finding)};
}

}  // namespace ddlrun::doctor
