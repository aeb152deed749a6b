// SPDX-License-Identifier: MIT
#include "launch/monitor/restart.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/monitor_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

// Statuses that the same words would only earn again.
bool is_hopeless(int status) {
  constexpr std::array hopeless{2, 126, 127};
  return std::find(hopeless.begin(), hopeless.end(), status) != hopeless.end();
}

// `why` stays empty where nothing speaks against it.
RestartDecision refuse_restart(const RestartPolicy& policy, const AttemptEnd& end) {
  RestartDecision decision;
  if (end.status == 0) {
    decision.why = "it ended well";
  } else if (end.stop_signal != 0) {
    decision.why = fmt::format(
        "stopped by {}{}", describe_signal(end.stop_signal),
        end.status == saved_status ? fmt::format(", after which it saved (status {})", end.status) : "");
  } else if (end.status == saved_status) {
    decision.why =
        fmt::format("it ended by preemption: status {} says that it saved and can go on", end.status);
  } else if (is_hopeless(end.status)) {
    decision.why = fmt::format(
        "status {} would come again: the program was not found, or refused its arguments", end.status);
    decision.hint = "what the program said above is to be mended first";
  } else if (end.restarts >= policy.most) {
    decision.why = fmt::format("{} of {} restarts are used up", end.restarts, policy.most);
    decision.hint = fmt::format("--max-restarts {}, if the cause above is one that passes", policy.most + 3);
  }
  return decision;
}

std::vector<std::string> without(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& lost) {
  std::vector<std::string> left;
  for (const std::string& host : hosts) {
    if (std::find(lost.begin(), lost.end(), host) == lost.end()) left.push_back(host);
  }
  return left;
}

}  // namespace

HostFailure parse_host_failure(std::string_view text) {
  if (text == "auto") return HostFailure::automatic;
  if (text == "shrink") return HostFailure::shrink;
  if (text == "wait") return HostFailure::wait;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not a way to treat lost hosts", printable(text, 40)),
                                 "--on-host-failure", "--on-host-failure shrink, wait or auto"});
}

topology::Dims fit_dims(const topology::Dims& dims, std::uint32_t hosts) {
  topology::Dims fitted = dims;
  const std::uint32_t racks = dims.racks * dims.aisles;
  if (racks == 0 || hosts % racks != 0) {
    fitted.racks = fitted.aisles = 1;
    fitted.nodes_per_rack = hosts;
  } else {
    fitted.nodes_per_rack = hosts / racks;
  }
  return fitted;
}

RestartDecision plan_restart(const RestartPolicy& policy, const AttemptEnd& end) {
  RestartDecision decision = refuse_restart(policy, end);
  if (!decision.why.empty()) return decision;
  decision.hosts = end.hosts;
  decision.dims = end.dims;
  decision.again = true;
  if (end.lost_hosts.empty()) {
    decision.why = fmt::format("status {}, restart {} of {}", end.status, end.restarts + 1, policy.most);
    return decision;
  }
  const std::string lost = fold_host_list(end.lost_hosts);
  const bool waits = policy.on_host_failure == HostFailure::wait ||
                     (policy.on_host_failure == HostFailure::automatic && policy.dims_were_given);
  if (waits) {
    decision.wait_for = end.lost_hosts;
    decision.why = fmt::format("{} lost, {} need{} {}; restart {} of {}", lost,
                               end.dims ? "the dims " + topology::render_dims(*end.dims) : "the job",
                               end.dims ? "" : "s", end.lost_hosts.size() == 1 ? "it" : "them",
                               end.restarts + 1, policy.most);
    return decision;
  }
  decision.hosts = without(end.hosts, end.lost_hosts);
  if (decision.hosts.empty()) {
    decision.again = false;
    decision.why = fmt::format("{} lost, and no host is left", lost);
    decision.hint = "--on-host-failure wait";
    return decision;
  }
  if (end.dims) decision.dims = fit_dims(*end.dims, static_cast<std::uint32_t>(decision.hosts.size()));
  decision.why = fmt::format("{} lost and left out: {}on {}; restart {} of {}", lost,
                             decision.dims ? topology::render_dims(*decision.dims) + " " : "",
                             fold_host_list(decision.hosts), end.restarts + 1, policy.most);
  return decision;
}

}  // namespace ddlrun::launch
