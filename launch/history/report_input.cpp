// SPDX-License-Identifier: MIT
#include "launch/history/report_input.hpp"

#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/metrics_file.hpp"
#include "launch/history/plan_gpus.hpp"
#include "launch/history/run_record.hpp"
#include "launch/history/run_store.hpp"
#include "launch/history/standing_run.hpp"
#include "launch/monitor/rank_files.hpp"
#include "launch/monitor/usage_state.hpp"
#include "topology/machine_json.hpp"
#include "topology/machine_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_machines = 8;
constexpr std::uint64_t most_plan_bytes = 64u << 20;
constexpr std::uint64_t most_metrics_bytes = 256u << 20;

std::string absolute(const std::string& path, const std::string& directory) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

// A line at most, of any length; the first of argv is the one to paste.
std::string read_command_line(System& system, const std::string& directory) {
  const auto part = system.files.read_from(directory + "/argv", 0, 1 << 20);
  if (!part || !part->bytes.starts_with("# ")) return {};
  return part->bytes.substr(2, part->bytes.find('\n') - 2);
}

std::vector<topology::DrawnRank> drawn_ranks(const RunRecord& run, const std::string& host,
                                             const topology::MachineTopology& machine,
                                             const std::map<std::uint32_t, int>& gpus) {
  std::vector<topology::DrawnRank> drawn;
  for (const RunRank& rank : run.ranks) {
    if (rank.host != host) continue;
    const auto pus = parse_ranges(rank.planned_pus, 1 << 20);
    topology::DrawnRank& one = drawn.emplace_back();
    one.rank = rank.rank;
    for (const topology::Core& core : machine.cores) {
      const bool is_its = pus && std::any_of(core.pus.begin(), core.pus.end(), [&](topology::PuIndex pu) {
                            return std::binary_search(pus->begin(), pus->end(), pu.os);
                          });
      if (is_its) one.cores.push_back(core.index);
    }
    const auto gpu = gpus.find(rank.rank);
    if (gpu != gpus.end() && gpu->second < static_cast<int>(machine.gpus.size())) one.gpu = gpu->second;
  }
  return drawn;
}

// How many hosts have machine `kind`, and the first of them.
std::pair<std::size_t, std::string> hosts_of_kind(const RunRecord& run, std::size_t kind) {
  std::pair<std::size_t, std::string> found{0, ""};
  for (std::size_t i = 0; i < std::min(run.hosts.size(), run.machine_of_host.size()); ++i) {
    if (run.machine_of_host[i] != kind) continue;
    if (found.first++ == 0) found.second = run.hosts[i];
  }
  return found;
}

std::map<std::uint32_t, int> read_gpus(System& system, ReportInput& input) {
  const std::string path = input.directory + "/plan.json";
  if (!system.files.exists(path)) return {};
  try {
    return parse_plan_gpus(system.files.read(path, most_plan_bytes), path);
  } catch (const Error& error) {
    input.notes.push_back(error.message().what);
    return {};
  }
}

void read_machines(System& system, ReportInput& input) {
  const auto gpus = read_gpus(system, input);
  for (std::size_t kind = 0; kind < most_machines; ++kind) {
    const std::string path = fmt::format("{}/topology-{}.json", input.directory, kind);
    if (!system.files.exists(path)) return;
    const auto [count, host] = hosts_of_kind(input.run, kind);
    if (count == 0) continue;
    try {
      const auto machine =
          topology::parse_machine_json(system.files.read(path, topology::max_machine_json_bytes), path);
      const std::string title = count == 1 ? host : fmt::format("{}, one of {} hosts like it", host, count);
      input.machines.push_back(
          {title, topology::render_machine_svg(machine, drawn_ranks(input.run, host, machine, gpus))});
    } catch (const Error& error) {
      input.notes.push_back(error.message().what);
    }
  }
}

void read_training(System& system, ReportInput& input) {
  const MetricsFile file = find_metrics_file(system, input.run, input.directory);
  if (!file.problem.empty()) input.notes.push_back("no curves: " + file.problem);
  if (file.path.empty()) return;
  try {
    const std::string text = system.files.read(file.path, most_metrics_bytes);
    Training training;
    for (const std::string_view line : split(text, '\n')) take_metrics_line(line, training);
    if (!training.known) return;  // of another program
    input.training = std::move(training);
    input.metrics_file = file.path;
  } catch (const Error& error) {
    input.notes.push_back("no curves: " + error.message().what);
  }
}

void read_usage(System& system, ReportInput& input) {
  const std::string path = input.directory + std::string(usage_file);
  if (!system.files.exists(path)) return;
  try {
    UsageState state = parse_usage_json(system.files.read(path, max_usage_bytes), path);
    input.standstill = find_standstill(input.state, state, unix_seconds(system));
    if (!state.timeline.seconds.empty()) input.usage = std::move(state.timeline);
  } catch (const Error& error) {
    input.notes.push_back("no use of cores: " + error.message().what);
  }
}

void read_timeline(System& system, ReportInput& input) {
  const std::string path = named_file(input.run, "--timeline");
  if (path.empty()) return;
  if (system.files.exists(path))
    input.timeline = path;
  else
    input.notes.push_back("no timeline: there is no " + path);
}

void read_first_log(System& system, ReportInput& input) {
  const RunFailure* first = input.run.first_failure();
  if (first == nullptr || !first->with.empty()) return;
  const std::string path = rank_file(input.directory, first->rank, RankStream::err);
  for (std::string& line : read_last_lines(system, path)) input.first_lines.push_back(std::move(line));
  if (!input.first_lines.empty()) input.first_log = path;
}

}  // namespace

ReportInput read_run_view(System& system, const std::string& directory) {
  ReportInput input;
  input.directory = absolute(directory, system.environment.workdir);
  input.run = read_run(system, directory, true);
  input.state = find_run_state(system, input.run);
  const auto now = unix_seconds(system);
  input.seconds = history_row(input.run, directory, input.state, now).seconds;
  input.command_line = read_command_line(system, directory);
  input.made = "made by ddlrun " DDLRUN_VERSION ", " + render_time(system.clock.now());
  read_machines(system, input);
  read_training(system, input);
  read_timeline(system, input);
  read_usage(system, input);
  read_first_log(system, input);
  return input;
}

}  // namespace ddlrun::launch
