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
  const std::string said = printable(trim(result.err), 200);
  return said.empty() ? fmt::format("it ended with status {}", result.exit_status) : said;
}

}  // namespace

std::vector<Gatherer> all_gatherers() {
  std::vector<Gatherer> all;
  for (const auto table : {name_gatherers(), system_gatherers(), software_gatherers(), device_gatherers()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

std::vector<Gatherer> choose_gatherers(const Question& question, std::span<const Gatherer> gatherers) {
  std::vector<Gatherer> chosen;
  for (const Gatherer& gatherer : gatherers) {
    const auto& groups = question.groups;
    const bool named = std::find(groups.begin(), groups.end(), gatherer.name) != groups.end();
    if (groups.empty() ? gatherer.level <= question.level : named) chosen.push_back(gatherer);
  }
  return chosen;
}

Answer gather_facts(System& system, const Question& question, std::span<const Gatherer> gatherers) {
  std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> functions;
  for (const Gatherer& gatherer : gatherers) {
    const auto body = [&system, &question, &gatherer] {
      Answer part;
      gatherer.gather({system, *system.kernel, question, ""}, part.facts);
      return render_answer_json(part);
    };
    functions.emplace_back(body, gatherer.limit);
  }
  const std::vector<ProcessResult> results = system.processes.run_functions(functions);
  Answer answer;
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      if (!results[i].ok())
        throw Error(ErrorKind::request, {why_gatherer_failed(results[i], gatherers[i]), "", "-"});
      answer.facts.merge(parse_answer_json(results[i].out, std::string(gatherers[i].name)).facts);
    } catch (const Error& error) {
      answer.failed_gatherers[std::string(gatherers[i].name)] = error.message().what;
    }
  }
  return answer;
}

}  // namespace ddlrun::doctor
