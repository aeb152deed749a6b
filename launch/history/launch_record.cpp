// SPDX-License-Identifier: MIT
#include "launch/history/launch_record.hpp"

#include "base/process/process_stat.hpp"
#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun::cli {

std::string read_if_there(System& system, const std::string& path) {
  const auto part = system.files.read_from(path, 0, 0);
  return part ? std::string(trim(system.files.read(path, 1 << 16))) : std::string();
}

launch::RunProcess read_run_process(System& system, const std::string& pid) {
  launch::RunProcess process;
  const auto stat = parse_process_stat(read_if_there(system, "/proc/" + pid + "/stat"));
  if (!stat || stat->state == 'Z') return process;
  process.pid = stat->pid;
  process.started_ticks = stat->started_ticks;
  process.boot = read_if_there(system, "/proc/sys/kernel/random/boot_id");
  return process;
}

std::map<std::string, std::string> export_digests(const Environment& environment,
                                                  const launch::Exports& exports) {
  std::map<std::string, std::string> digests;
  for (const std::string& name : exports.names) {
    const bool is_public = name == "PATH" || name == "LD_LIBRARY_PATH";
    if (is_public && exports.set_by_user.count(name) == 0)
      digests[name] = launch::render_digest(environment.get(name));
  }
  for (const auto& [name, value] : exports.set_by_us) digests[name] = launch::render_digest(value);
  return digests;
}

void add_launch_facts(System& system, const LaunchOptions& options, const JobPlan& job,
                      const launch::Exports& exports, const JobNetwork& network, launch::RunRecord& record) {
  record.process = read_run_process(system, "self");
  if (options.is_typed)
    record.typed =
        launch::TypedLaunch{options.words, options.restarts == 0 ? options.program : options.first_program};
  record.replay_of = options.replay_of;
  record.restart_of = options.restart_of;
  record.restarts = options.restarts;
  record.output = options.output + (options.tee ? " tee" : "");
  record.hosts = job.hosts;
  record.machine_of_host = job.machines.machine_of_host;
  record.network = network.remark;
  record.remarks = job.remarks;
  record.findings = job.findings;
  record.reasons = exports.reasons;
  record.digests = export_digests(system.environment, exports);
}

}  // namespace ddlrun::cli
