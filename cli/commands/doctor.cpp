// SPDX-License-Identifier: MIT
// `ddlrun doctor`: what would break on these hosts, where, and the command that mends it.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/option_group.hpp"
#include "doctor/report/baseline.hpp"
#include "doctor/run/choose_path.hpp"
#include "doctor/run/doctor_job.hpp"
#include "doctor/run/doctor_run.hpp"
#include "launch/plan/choose_program.hpp"
#include "topology/dims.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace doctor;
using namespace launch;

namespace {

struct DoctorOptions {
  DoctorJobOptions job;
  bool quick = false, full = false, stress = false;
  bool list = false, json = false, all = false, strict = false;
  std::vector<std::string> hosts, explain;
  std::string listed_hosts;  // -H
  std::string fix_script, via, seconds, window, relays = "auto";
  std::vector<std::string> only, skip, warn, ssh_arguments;
  BaselineRequest baseline;
};

doctor::Level level_of(const DoctorOptions& options) {
  if (options.quick + options.full + options.stress > 1) {
    throw Error(ErrorKind::usage, {"more than one of --quick, --full, --stress", "",
                                   "--stress includes --full, and --full includes --quick"});
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
      throw Error(ErrorKind::usage, {fmt::format("unknown --via method '{}'", printable(word, 40)), "--via",
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

doctor::RelayUse relay_use_of(const DoctorOptions& options, const DoctorRequest& request) {
  if (options.relays == "auto") return doctor::RelayUse::automatic;
  if (options.relays == "never") return doctor::RelayUse::never;
  if (options.relays != "always") {
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is not auto, never or always", printable(options.relays, 40)), "--relays",
                 "--relays never"});
  }
  if (request.choice.level != doctor::Level::quick) {
    throw Error(ErrorKind::usage,
                {fmt::format("--relays always with --{}", level_name(request.choice.level)), "",
                 "--quick: other levels probe the network between hosts that are asked at once"});
  }
  return doctor::RelayUse::always;
}

// "" where none is found: the smoke run then leaves the allreduce out.
std::string find_own_trainer(System& system) {
  try {
    return choose_program(system, {}, true).command[0];
  } catch (const Error&) {
    return {};
  }
}

// Both spellings of launch: HOSTS and -H. A shape before the hosts, or counts behind them, belong to --dims.
std::string hosts_of(const DoctorOptions& options) {
  const std::vector<std::string>& hosts = options.hosts;
  if (!hosts.empty() && hosts[0].find('x') != std::string::npos && topology::is_dims_word(hosts[0])) {
    const std::string rest = join(std::vector<std::string>(hosts.begin() + 1, hosts.end()), ",");
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is a shape, not a host", printable(hosts[0], 40)), "HOSTS",
                 fmt::format("ddlrun doctor --dims {}{}{}", hosts[0], rest.empty() ? "" : " ", rest)});
  }
  if (options.listed_hosts.empty()) return join(hosts, ",");
  if (!hosts.empty())
    throw Error(ErrorKind::usage, {"hosts are given twice", "HOSTS and -H", "one of the two"});
  if (options.listed_hosts.find(':') != std::string::npos)
    throw Error(ErrorKind::usage, {"a number of ranks in -H", printable(options.listed_hosts, 200),
                                   "names only; --dims 4x2 is 4 ranks on each of 2 hosts"});
  return options.listed_hosts;
}

DoctorRequest request_of(System& system, const DoctorOptions& options) {
  DoctorRequest request;
  if (!options.via.empty()) request.paths = paths_of(options.via);
  request.choice = with_path_check(
      {level_of(options), words_of(options.only), words_of(options.skip), words_of(options.warn)},
      request.paths.size());
  const unsigned usual = request.choice.level == doctor::Level::quick ? 20 : 120;
  request.reach.limit = std::chrono::seconds(number_of(options.seconds, "--timeout", usual, 3600));
  request.reach.window = number_of(options.window, "--fanout", 32, 1024);
  request.reach.ssh_arguments = options.ssh_arguments;
  request.relays = relay_use_of(options, request);
  doctor::choose_checks(request.choice,
                        doctor::all_checks());  // a typing error is reported before any host is asked
  doctor::ExaminedJob examined = find_job(system, options.job);
  // Options without a program are those of the bundled trainer, as for `launch`.
  Command& program = examined.job.program;
  if (!program.empty() && program[0].starts_with('-'))
    program = choose_program(system, program, false).command;
  request.job = std::move(examined.job);
  request.hosts = std::move(examined.hosts);
  if (options.via.empty()) choose_path(system, request);
  if (request.choice.level != doctor::Level::quick) request.trainer = find_own_trainer(system);
  return request;
}

int status_of_findings(const doctor::Examination& examination, bool strict) {
  if (!examination.unreached.empty()) return exit_code(ErrorKind::unreachable);
  const doctor::Summary summary = doctor::count_checks(examination.findings);
  const bool bad = summary[doctor::Verdict::fail] > 0 || (strict && summary[doctor::Verdict::warn] > 0);
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
  if (!options.fix_script.empty() && !doctor::has_remedies(examination)) {
    system.err(fmt::format("ddlrun: nothing to mend: {} is not written\n", options.fix_script));
  } else if (!options.fix_script.empty()) {
    system.files.write(options.fix_script, doctor::render_fix_script(examination, checks));
    system.err(fmt::format("ddlrun: remedies written to {}; read it before you run it: bash {}\n",
                           options.fix_script, quote_shell(options.fix_script)));
  }
  const bool colour = system.environment.wants_colour(system.environment.stdout_is_terminal);
  system.out(options.json ? doctor::render_report_json(examination, checks)
                          : doctor::render_report(examination, checks, {colour, options.all}));
  return status_of_findings(examination, options.strict);
}

void add_job_options(CLI::App& app, DoctorJobOptions& job) {
  OptionGroup(app, "Job")
      .option("--hostfile", job.hostfile, "FILE", "hosts and slots as mpirun will read them")
      .option("--rankfile", job.rankfile, "FILE", "also check this job's host names, slots and threads")
      .option("--dims", job.dims, "DIMS",
              "ranks per host x hosts per rack x racks [x aisles], for example 4x2x3")
      .option("-n,--np", job.ranks, "N", "number of ranks")
      .option("--cores-per-rank", job.cores_per_rank, "N", "cores that each rank needs")
      .option("--gpus", job.gpus, "N", "GPUs that the job requests on each host")
      .flag("--exclusive", job.exclusive, "the job requests whole hosts")
      .flag("--oversubscribe", job.oversubscribe,
            "more ranks than cores share the cores of a host, as with launch --oversubscribe")
      .option("--interface", job.interface, "NET", "network of the job: 10.1.0.0/16 or ib0")
      .repeatable("--port", job.ports, "PORT",
                  "ports that the job opens on the first host (MASTER_PORT), joined by commas; repeatable")
      .repeatable("--data", job.data_paths, "PATH",
                  "a file or directory that must be identical on every host; repeatable")
      .option("--workdir", job.workdir, "DIR", "directory in which the ranks start")
      .option("--checkpoints", job.checkpoint_dir, "DIR", "directory in which the job writes checkpoints")
      .repeatable("-x", job.exports, "NAME", "a variable that the job exports; repeatable");
  app.get_option("--port")->delimiter(',');
}

void add_doctor_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("HOSTS", options.hosts,
                 "h1,h2 or node[01-16] or @file; default: the allocation, else this machine");
  OptionGroup(app, "Checks")
      .flag("--quick", options.quick, "take seconds and start no job (default)")
      .flag("--full", options.full, "add an MPI smoke run, and TCP and ssh between the hosts")
      .flag("--stress", options.stress,
            "add load: allreduce, and nccl-tests, dcgmi, ib_write_bw where installed")
      .repeatable("--only", options.only, "IDS", "run only these checks: LIM-01,GPU; repeatable")
      .repeatable("--skip", options.skip, "IDS", "skip these checks; repeatable")
      .repeatable("--warn", options.warn, "IDS", "failures of these checks are warnings; repeatable")
      .flag("--list-checks", options.list, "list id, level and title of each check")
      .repeatable("--explain", options.explain, "ID",
                  "explain one check: its reason, its source and its remedy; repeatable");
  OptionGroup(app, "Hosts")
      .option("-H,--hosts", options.listed_hosts, "LIST", "the same as HOSTS: h1,h2")
      .option("--via", options.via, "METHODS",
              "connect by ssh, srun, pbsdsh or mpirun; several, joined by commas, are compared (PATH-01); "
              "default: srun for the nodes of a Slurm job, else ssh")
      .option("--timeout", options.seconds, "N", "seconds for one host in total (20; --full 120)")
      .option("--fanout", options.window, "N", "hosts examined at once (32; at most 8 at one address)")
      .option("--relays", options.relays, "auto|never|always",
              "ask hosts through other hosts; auto: more than 4 times --fanout, at level quick")
      .repeatable("--ssh-arg", options.ssh_arguments, "ARG",
                  "an argument for ssh before the host: --ssh-arg=-p2222; repeatable");
  OptionGroup(app, "Output")
      .flag("--json", options.json, "print one JSON document (ddlrun.doctor/1)")
      .flag("--all", options.all, "list passed and skipped checks too")
      .flag("--strict", options.strict, "exit 1 for a warning too")
      .option("--fix-script", options.fix_script, "FILE",
              "write the remedies to FILE as a script to read first")
      .option("--baseline", options.baseline.verb, "save|compare",
              "save: keep this run's facts; compare: compare with the kept facts")
      .option("--baseline-file", options.baseline.file, "FILE",
              "the kept facts; default: in the state directory");
  add_job_options(app, options.job);
}

}  // namespace

Subcommand doctor_command() {
  Subcommand command;
  command.name = "doctor";
  command.summary = "check hosts for faults before a job runs, with a remedy for each";
  command.examples = R"(  ddlrun doctor h1,h2
  ddlrun doctor --rankfile 4x2x1.rf --hostfile hosts
  ddlrun doctor h1,h2 --full --fix-script mend.sh
  ddlrun doctor --explain LIM-01)";
  command.takes_program = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<DoctorOptions>();
    options->job.program = rest;
    add_doctor_options(app, *options);
    return [options](System& system) {
      options->job.hosts = hosts_of(*options);
      return run_doctor(system, *options);
    };
  };
  return command;
}

}  // namespace ddlrun::cli
