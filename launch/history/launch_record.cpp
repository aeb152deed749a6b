// SPDX-License-Identifier: MIT
#include "launch/history/launch_record.hpp"

#include "base/process/process_stat.hpp"
#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

std::string render_output(const OutputSpec& spec) {
  const char* mode = spec.mode == OutputSpec::Mode::prefix  ? "prefix"
                     : spec.mode == OutputSpec::Mode::files ? "files"
                                                            : "screen";
  return std::string(mode) + (spec.tee ? " tee" : "");
}

}  // namespace

std::string read_if_there(System& system, const std::string& path) {
  const auto part = system.files.read_from(path, 0, 0);
  return part ? std::string(trim(system.files.read(path, 1 << 16))) : std::string();
}

RunProcess read_run_process(System& system, const std::string& pid) {
  RunProcess process;
  const auto stat = parse_process_stat(read_if_there(system, "/proc/" + pid + "/stat"));
  if (!stat || stat->state == 'Z') return process;
  process.pid = stat->pid;
  process.started_ticks = stat->started_ticks;
  process.boot = read_if_there(system, "/proc/sys/kernel/random/boot_id");
  return process;
}

std::map<std::string, std::string> export_digests(const Environment& environment, const Exports& exports) {
  std::map<std::string, std::string> digests;
  for (const std::string& name : exports.names) {
    const bool is_public = name == "PATH" || name == "LD_LIBRARY_PATH";
    if (is_public && exports.set_by_user.count(name) == 0)
      digests[name] = render_digest(environment.get(name));
  }
  for (const auto& [name, value] : exports.set_by_us) digests[name] = render_digest(value);
  return digests;
}

RunRecord make_run_record(System& system, const LaunchSpec& spec, const LaunchPlan& plan,
                          const std::string& run_dir) {
  const SelectedLauncher& launcher = plan.placed.launcher;
  const JobPlan& job = plan.placed.job;
  const Exports& exports = plan.environment.exports;
  RunRecord record;
  record.id = base_name(run_dir);
  record.ddlrun_version = DDLRUN_VERSION;
  record.mpirun = launcher.program;
  record.mpirun_version = launcher.version.text;
  record.launcher = name_of(launcher.version.kind);
  record.kernel = read_if_there(system, "/proc/sys/kernel/osrelease");
  record.host = system.environment.host_name;
  record.working_folder = system.environment.working_folder;
  if (job.plan) record.dims = topology::render_dims(job.plan->dims);
  record.program = plan.program.program.command;
  record.exported = exports.names;
  record.process = read_run_process(system, "self");
  if (spec.origin.is_typed) {
    record.typed = TypedLaunch{spec.origin.captured_arguments,
                               spec.restart.number == 0 ? spec.program : spec.restart.first_program};
  }
  record.replay_of = spec.origin.replay_of;
  record.restart_of = spec.restart.restart_of;
  record.restarts = spec.restart.number;
  record.output = render_output(spec.output);
  record.hosts = job.hosts;
  record.machine_of_host = job.machines.machine_of_host;
  record.network = plan.environment.network.remark;
  record.remarks = plan.remarks();
  record.findings = job.findings;
  record.reasons = exports.reasons;
  record.digests = export_digests(system.environment, exports);
  record.start = system.clock.now();
  return record;
}

}  // namespace ddlrun::launch
