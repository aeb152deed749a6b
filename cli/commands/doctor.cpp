// SPDX-License-Identifier: MIT
// `ddlrun doctor`: what would break on these hosts, where, and the command that mends it.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "doctor/report/baseline.hpp"
#include "doctor/run/doctor_job.hpp"
#include "doctor/run/doctor_run.hpp"
#include "launch/plan/find_program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

struct DoctorOptions {
  DoctorJobOptions job;
  bool quick = false, full = false, stress = false;
  bool list = false, json = false, all = false, strict = false;
  std::vector<std::string> hosts, explain;
  std::string fix_script, via = "ssh", seconds, window;
  std::vector<std::string> only, skip, ssh_arguments;
  BaselineRequest baseline;
};

doctor::Level level_of(const DoctorOptions& options) {
  if (options.quick + options.full + options.stress > 1) {
    throw Error(ErrorKind::usage, {"more than one of --quick, --full, --stress", "",
                                   "the last of them does all that the others do: ddlrun doctor --stress"});
  }
  if (options.stress) return doctor::Level::stress;
  return options.full ? doctor::Level::full : doctor::Level::quick;
}

std::vector<std::string> words_of(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (const std::string_view word : split(list, ',')) {
      if (!trim(word).empty()) words.emplace_back(trim(word));
    }
  }
  return words;
}

std::vector<doctor::Via> paths_of(const std::string& text) {
  std::vector<doctor::Via> paths;
  for (const std::string& word : words_of({text})) {
    bool known = false;
    for (const doctor::Via via :
         {doctor::Via::ssh, doctor::Via::srun, doctor::Via::pbsdsh, doctor::Via::mpirun}) {
      if (word != doctor::via_name(via)) continue;
      paths.push_back(via);
      known = true;
    }
    if (!known) {
      throw Error(ErrorKind::usage, {fmt::format("'{}' is no path to a host", printable(word, 40)), "--via",
                                     "--via ssh, srun, pbsdsh or mpirun; several joined by commas"});
    }
  }
  if (paths.empty()) throw Error(ErrorKind::usage, {"no path to the hosts", "--via", "--via ssh"});
  return paths;
}

unsigned number_of(const std::string& text, const char* option, unsigned otherwise, unsigned most) {
  if (text.empty()) return otherwise;
  const auto number = parse_unsigned(text, most);
  if (!number || *number == 0) {
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is not a number from 1 to {}", printable(text, 40), most), option,
                 fmt::format("{} {}", option, otherwise)});
  }
  return static_cast<unsigned>(*number);
}

// "" where none is found: the smoke run then leaves the allreduce out.
std::string find_own_trainer(System& system) {
  try {
    return choose_program(system, {}, true).command[0];
  } catch (const Error&) {
    return {};
  }
}

DoctorRequest request_of(System& system, const DoctorOptions& options) {
  DoctorRequest request;
  request.choice = {level_of(options), words_of(options.only), words_of(options.skip)};
  request.paths = paths_of(options.via);
  const unsigned usual = request.choice.level == doctor::Level::quick ? 20 : 120;
  request.reach.limit = std::chrono::seconds(number_of(options.seconds, "--timeout", usual, 3600));
  request.reach.window = number_of(options.window, "--window", 32, 1024);
  request.reach.ssh_arguments = options.ssh_arguments;
  doctor::choose_checks(request.choice,
                        doctor::all_checks());  // a typing error is told before hosts are asked
  request.job = find_job(system, options.job);
  request.hosts = find_job_hosts(system, options.job, request.job);
  if (request.choice.level != doctor::Level::quick) request.trainer = find_own_trainer(system);
  return request;
}

int status_of_findings(const doctor::Examination& examination, bool strict) {
  if (!examination.unreached.empty()) return exit_code(ErrorKind::unreachable);
  const doctor::Tally tally = doctor::count_checks(examination.findings);
  const bool bad = tally[doctor::Verdict::fail] > 0 || (strict && tally[doctor::Verdict::warn] > 0);
  return bad ? 1 : 0;
}

void check_baseline_verb(const std::string& verb) {
  if (verb.empty() || verb == "save" || verb == "compare") return;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is neither save nor compare", printable(verb, 40)),
                                 "--baseline", "--baseline save after a good run, --baseline compare later"});
}

int run_doctor(System& system, const DoctorOptions& options) {
  std::vector<doctor::Check> checks = doctor::all_checks();
  checks.push_back(doctor::baseline_check());
  if (options.list) {
    system.out(doctor::render_check_list(checks));
    return 0;
  }
  if (!options.explain.empty()) {
    std::string text;
    for (const std::string& id : words_of(options.explain)) {
      text += (text.empty() ? "" : "\n") + doctor::render_explanation(doctor::find_check(id, checks));
    }
    system.out(text);
    return 0;
  }
  check_baseline_verb(options.baseline.verb);
  const DoctorRequest request = request_of(system, options);
  const doctor::Examination examination = examine(system, request, options.baseline);
  if (!options.fix_script.empty()) {
    system.files.write(options.fix_script, doctor::render_fix_script(examination, checks));
    system.err(fmt::format("ddlrun: remedies written to {}; read it before you run it: bash {}\n",
                           options.fix_script, quote_shell(options.fix_script)));
  }
  const bool colour = system.environment.stdout_is_terminal && system.environment.get("NO_COLOR").empty();
  system.out(options.json ? doctor::render_report_json(examination, checks)
                          : doctor::render_report(examination, checks, {colour, options.all}));
  return status_of_findings(examination, options.strict);
}

void add_job_options(CLI::App& app, DoctorJobOptions& job) {
  app.add_option("--hostfile", job.hostfile, "hosts and slots as mpirun will get them");
  app.add_option("--rankfile", job.rankfile, "check this job's names, slots and threads too");
  app.add_option("--dims", job.dims, "4x2x1: the job's shape");
  app.add_option("-n", job.ranks, "ranks of the job");
  app.add_option("--cores-per-rank", job.cores_per_rank, "cores that each rank needs");
  app.add_option("--interface", job.interface, "the network that the job shall use: 10.1.0.0/16 or ib0");
  app.add_option("--port", job.ports, "a port that the job will open on the first host (MASTER_PORT)")
      ->delimiter(',');
  app.add_option("--data", job.data_paths, "a file or folder that must be the same on every host");
  app.add_option("--wdir", job.working_folder, "where the ranks will start");
  app.add_option("--checkpoints", job.checkpoint_folder, "where the job will write its checkpoints");
  app.add_option("-x", job.exports, "NAME: a variable that the job gets");
}

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("hosts", options.hosts,
                 "h1,h2 or node[01-16] or @file; else the allocation, else this machine");
  app.add_flag("--quick", options.quick, "seconds, starts nothing (the default)");
  app.add_flag("--full", options.full, "adds an MPI smoke run, TCP between hosts, ssh between hosts");
  app.add_flag("--stress", options.stress,
               "adds load: allreduce, nccl-tests, dcgmi, ib_write_bw where installed");
  app.add_option("--via", options.via, "ssh, srun, pbsdsh, mpirun; several joined by commas are compared");
  app.add_option("--only", options.only, "these checks: LIM-01,GPU");
  app.add_option("--skip", options.skip, "all but these");
  app.add_flag("--list-checks", options.list, "id, level and title of each check");
  app.add_option("--explain", options.explain, "one check: why, what is read, what mends it");
  app.add_flag("--json", options.json, "one JSON document, ddlrun.doctor/1");
  app.add_flag("--all", options.all, "show passes and skips one by one too");
  app.add_flag("--strict", options.strict, "a warning is status 1 too");
  app.add_option("--fix-script", options.fix_script, "write the remedies as a script to read, never run");
  app.add_option("--baseline", options.baseline.verb,
                 "save: keep this run's facts; compare: with those kept");
  app.add_option("--baseline-file", options.baseline.file,
                 "where they are kept, else in the user's state folder");
  app.add_option("--timeout", options.seconds, "seconds for one host, all in all (20; --full 120)");
  app.add_option("--window", options.window, "hosts asked at once (32; at most 8 at one address)");
  app.add_option("--ssh-arg", options.ssh_arguments, "a word for ssh before the host: --ssh-arg=-p2222");
}

}  // namespace

Subcommand doctor_command() {
  Subcommand command;
  command.name = "doctor";
  command.summary = "what would break on these hosts, where, and the command that mends it";
  command.examples =
      "  ddlrun doctor h1,h2\n"
      "  ddlrun doctor --rankfile 4x2x1.rf --hostfile hosts\n"
      "  ddlrun doctor h1,h2 --full --fix-script mend.sh\n"
      "  ddlrun doctor --explain LIM-01";
  command.takes_program = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<DoctorOptions>();
    options->job.program = rest;
    add_job_options(app, options->job);
    add_doctor_options(app, *options);
    return [options](System& system) {
      options->job.hosts = join(options->hosts, ",");
      return run_doctor(system, *options);
    };
  };
  return command;
}

}  // namespace ddlrun::cli
