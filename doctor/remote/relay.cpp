// SPDX-License-Identifier: MIT
#include "doctor/remote/relay.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <unordered_map>

namespace ddlrun::doctor {

namespace {

constexpr std::string_view report_mark = "ddlrun-agent relayed ";
constexpr std::string_view end_mark = "ddlrun-agent missing ";

// By our clock, over the relay's.
void add_clock(const Reach& relay, Reach& reach) {
  if (!reach.clock_offset_seconds || !relay.clock_offset_seconds) return reach.clock_offset_seconds.reset();
  *reach.clock_offset_seconds += *relay.clock_offset_seconds;
  reach.clock_error_seconds += relay.clock_error_seconds;
}

}  // namespace

RelayRequest plan_relay(std::span<const ProbeRequest> requests, std::span<const std::size_t> branch,
                        const AgentBinary& agent, const ReachOptions& options) {
  RelayRequest relay;
  for (const std::size_t at : branch.subspan(1))
    relay.hosts.push_back({requests[at].host, requests[at].ranks_here});
  relay.agent_path = agent.path;
  static_cast<LevelOptions&>(relay) = options;
  return relay;
}

void serve_relay(System& system, const ProbeRequest& request, const RelayRequest& relay, const Facts& own,
                 const AgentBinary& agent) {
  std::vector<ProbeRequest> requests;
  for (const RelayedHost& host : relay.hosts) {
    requests.push_back(request);
    requests.back().host = host.name;
    requests.back().ranks_here = host.ranks;
  }
  ReachOptions options;
  static_cast<LevelOptions&>(options) = relay;
  options.is_relay = true;
  const auto base = std::make_shared<const FactMap>(own.all());
  std::string why;
  const auto pass_on = [&](std::size_t at, HostReport&& report) {
    if (!report.reach.problem.empty()) {
      if (why.empty()) why = fmt::format("{}: {}", requests[at].host, report.reach.problem);
      return;
    }
    report.facts.share(base);
    system.out(std::string(report_mark) + render_relayed_report_json(report, base) + "\n");
  };
  const ReachSummary summary = reach_hosts(system, requests, agent, options, pass_on);
  if (why.empty()) why = summary.why_missing;
  if (!why.empty()) system.out(fmt::format("{}{}\n", end_mark, printable(why, 200)));
}

std::string take_relayed_reports(std::string_view out, std::span<const ProbeRequest> requests,
                                 std::span<const std::size_t> branch, const HostReport& relay,
                                 const ReportSink& sink) {
  std::unordered_map<std::string_view, std::size_t> open;
  for (const std::size_t at : branch.subspan(1)) open.emplace(requests[at].host, at);
  const auto base = std::make_shared<const FactMap>(relay.facts.all());
  std::string why;
  while (!out.empty()) {
    const std::size_t end = out.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    const std::string_view line = out.substr(0, end);
    out.remove_prefix(end + 1);
    if (line.starts_with(end_mark)) why = printable(line.substr(end_mark.size()), 200);
    if (!line.starts_with(report_mark)) continue;
    try {
      HostReport report = parse_relayed_report_json(line.substr(report_mark.size()), base, relay.host);
      const auto wanted = open.find(report.host);
      if (wanted == open.end()) continue;
      const std::size_t at = wanted->second;
      open.erase(wanted);
      add_clock(relay.reach, report.reach);
      report.reach.relay = relay.host;
      sink(at, std::move(report));
    } catch (const Error& error) {
      why = error.message().what;
    }
  }
  return why;
}

}  // namespace ddlrun::doctor
