// SPDX-License-Identifier: MIT
#include "doctor/model/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::doctor {

namespace {

bool same(const Finding& finding, const CheckResult& result) {
  return finding.verdict == result.verdict && finding.observed == result.observed &&
         finding.expected == result.expected && finding.why == result.why && finding.remedy == result.remedy;
}

Finding finding_of(std::string_view id, CheckResult result) {
  return {std::string(id),
          result.verdict,
          {},
          std::move(result.observed),
          std::move(result.expected),
          std::move(result.why),
          std::move(result.remedy)};
}

// Equal results share one finding; the newest are looked at first, as neighbours are mostly equal.
void add(std::vector<Finding>& findings, std::string_view id, const std::string& host, CheckResult result) {
  for (auto at = findings.rbegin(); at != findings.rend(); ++at) {
    if (!same(*at, result)) continue;
    at->hosts.push_back(host);
    return;
  }
  findings.push_back(finding_of(id, std::move(result)));
  findings.back().hosts.push_back(host);
}

CheckResult broken(std::string_view gatherer, const std::string& why) {
  CheckResult result;
  result.verdict = Verdict::error;
  result.observed = fmt::format("the gatherer '{}' failed there: {}", gatherer, why);
  return result;
}

CheckResult evaluate_safely(const HostReport& host,
                            const std::function<CheckResult(const HostReport&)>& evaluate,
                            std::string_view gatherer) {
  const auto failed = host.failed_gatherers.find(std::string(gatherer));
  if (failed != host.failed_gatherers.end()) return broken(gatherer, failed->second);
  return evaluate(host);
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

std::string join_paths(const std::vector<Via>& paths, std::string_view separator) {
  std::string text;
  for (const Via via : paths) {
    if (!text.empty()) text += separator;
    text += via_name(via);
  }
  return text;
}

CheckResult pass(std::string observed) { return {Verdict::pass, std::move(observed), "", "", {}}; }
CheckResult skip(std::string reason) { return {Verdict::skip, std::move(reason), "", "", {}}; }

CheckResult warn(std::string observed, std::string expected, std::string why, Remedy remedy) {
  return {Verdict::warn, std::move(observed), std::move(expected), std::move(why), std::move(remedy)};
}

CheckResult fail(std::string observed, std::string expected, std::string why, Remedy remedy) {
  return {Verdict::fail, std::move(observed), std::move(expected), std::move(why), std::move(remedy)};
}

std::vector<Finding> evaluate_each(const CheckInput& input, std::string_view id,
                                   const std::function<CheckResult(const HostReport&)>& evaluate,
                                   std::string_view gatherer) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    if (host.reach.problem.empty()) add(findings, id, host.host, evaluate_safely(host, evaluate, gatherer));
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
    ValueGroup& group = groups[at->second];
    group.hosts.push_back(host.host);
    if (!host.reach.relay.empty()) ++group.relayed[host.reach.relay];
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ValueGroup& a, const ValueGroup& b) { return a.hosts.size() > b.hosts.size(); });
  return groups;
}

bool has_majority(const std::vector<ValueGroup>& groups) {
  std::size_t hosts = 0;
  std::map<std::string, std::size_t> relayed;  // by relay, whatever their value
  for (const ValueGroup& group : groups) {
    hosts += group.hosts.size();
    for (const auto& [relay, count] : group.relayed) relayed[relay] += count;
  }
  if (groups.empty()) return false;
  const ValueGroup& first = groups.front();
  return is_majority(first.hosts.size(), hosts) && std::ranges::all_of(relayed, [&](const auto& entry) {
           const auto& [relay, count] = entry;
           const auto same = first.relayed.find(relay);
           return is_majority(first.hosts.size() - (same == first.relayed.end() ? 0 : same->second),
                              hosts - count);
         });
}

bool is_majority(std::size_t with_the_value, std::size_t hosts) {
  return hosts >= 3 && with_the_value * 2 > hosts;
}

Remedy as_advice(Remedy remedy, std::string_view source) {
  if (remedy.commands.empty()) return remedy;
  std::string lines;
  for (const std::string& command : remedy.commands) lines += (lines.empty() ? "" : "; ") + command;
  remedy.note =
      fmt::format("no command, as it is reported by {} only; where that is right{}: {}{}{}", source,
                  remedy.needs_root ? ", as root" : "", lines, remedy.note.empty() ? "" : ". ", remedy.note);
  remedy.commands.clear();
  remedy.needs_root = false;
  return remedy;
}

bool is_command_word(std::string_view text) {
  constexpr std::string_view signs = "./_+:@%=,~-";
  const auto is_plain = [signs](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= 300 && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), is_plain);
}

std::vector<Finding> check_equal(const CheckInput& input, std::string_view id, Verdict otherwise,
                                 const std::function<std::optional<std::string>(const HostReport&)>& value,
                                 const CheckResult& words, std::string_view missing) {
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
  CheckResult result = words;
  result.verdict = otherwise;
  result.observed = render_groups(groups);
  if (result.expected.empty()) result.expected = fmt::format("{}, as on most", groups[0].value);
  findings.push_back(finding_of(id, std::move(result)));
  for (std::size_t i = 1; i < groups.size(); ++i) {
    auto& hosts = findings.back().hosts;
    hosts.insert(hosts.end(), groups[i].hosts.begin(), groups[i].hosts.end());
  }
  return findings;
}

std::vector<Finding> single_finding(std::string_view id, CheckResult result, std::vector<std::string> hosts) {
  Finding finding = finding_of(id, std::move(result));
  finding.hosts = std::move(hosts);
  return {std::move(finding)};
}

}  // namespace ddlrun::doctor
