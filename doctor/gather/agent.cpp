// SPDX-License-Identifier: MIT
#include "doctor/gather/agent.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

std::string why_gatherer_failed(const ProcessResult& result, const Gatherer& gatherer) {
  if (!result.start_error.empty()) return result.start_error;
  if (result.timed_out) return fmt::format("no answer within {} ms", gatherer.limit.count());
  if (result.signal != 0) return fmt::format("it died of signal {}", result.signal);
  const std::string stderr_text = printable(trim(result.err), 200);
  return stderr_text.empty() ? fmt::format("it ended with status {}", result.exit_status) : stderr_text;
}

}  // namespace

std::vector<Gatherer> all_gatherers() {
  std::vector<Gatherer> all;
  for (const auto table : {name_gatherers(), system_gatherers(), software_gatherers(), device_gatherers()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

std::vector<Gatherer> choose_gatherers(const ProbeRequest& request, std::span<const Gatherer> gatherers) {
  std::vector<Gatherer> chosen;
  for (const Gatherer& gatherer : gatherers) {
    const auto& groups = request.groups;
    const bool named = std::find(groups.begin(), groups.end(), gatherer.name) != groups.end();
    if (groups.empty() ? gatherer.level <= request.level : named) chosen.push_back(gatherer);
  }
  return chosen;
}

ProbeResponse gather_facts(System& system, const ProbeRequest& request, std::span<const Gatherer> gatherers) {
  std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> functions;
  for (const Gatherer& gatherer : gatherers) {
    const auto body = [&system, &request, &gatherer] {
      ProbeResponse part;
      gatherer.gather({system, *system.kernel, request, ""}, part.facts);
      return render_probe_response_json(part);
    };
    functions.emplace_back(body, gatherer.limit);
  }
  const std::vector<ProcessResult> results = system.processes.run_functions(functions);
  ProbeResponse response;
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      if (!results[i].ok())
        throw Error(ErrorKind::request, {why_gatherer_failed(results[i], gatherers[i]), "", "-"});
      response.facts.merge(parse_probe_response_json(results[i].out, std::string(gatherers[i].name)).facts);
    } catch (const Error& error) {
      response.failed_gatherers[std::string(gatherers[i].name)] = error.message().what;
    }
  }
  return response;
}

}  // namespace ddlrun::doctor
