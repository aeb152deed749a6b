// SPDX-License-Identifier: MIT
// `ddlrun exec`: the first program of each rank. It applies the rank map, reports where the rank really runs,
// then becomes the program, or stays as its supervisor.
#include "base/os/program_path.hpp"
#include "base/process/posix_code_samples.hpp"
#include "base/process/posix_process_binding.hpp"
#include "base/process/posix_rank_supervisor.hpp"
#include "base/process/posix_tree_usage.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/rank/apply_rank_setup.hpp"
#include "launch/rank/oom_kills.hpp"
#include "launch/rank/output_frame.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/rank_command.hpp"
#include "launch/rank/rank_identity.hpp"
#include "launch/rank/rank_usage.hpp"
#include "launch/rank/slurm_variables.hpp"
#include "launch/rank/status_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace ddlrun::cli {

using namespace launch;

namespace {

struct ExecOptions {
  bool rank_map = false;
  std::string rank_map_file;
  std::string placement_token;
  std::string colon;
  bool keep = false;
  std::string status_token;
  int stall_after = 0;
  std::string output_token, stderr_token;  // of frames: for both streams, or for stderr alone
  Command program;

  const std::string& frame_token() const { return output_token.empty() ? stderr_token : output_token; }
};

std::string place_of(const Environment& environment) {
  const auto identity = launch::find_rank_identity(environment.variables);
  return identity ? fmt::format("rank {} on {}", identity->rank, environment.host_name)
                  : environment.host_name;
}

void report_place(System& system, const std::string& token, std::optional<std::uint32_t> local_rank,
                  bool among_pieces) {
  const Environment& environment = system.environment;
  const auto identity = launch::find_rank_identity(environment.variables);
  if (!identity) {
    throw Error(ErrorKind::usage, {"--report-placement needs a rank, and no launcher has set one",
                                   environment.host_name, "ddlrun launch 2 --verify -- ./my_mpi_program"});
  }
  const std::string marker =
      launch::render_placement_line(token, {identity->rank, local_rank ? local_rank : identity->local_rank,
                                            environment.host_name, read_own_cpuset()});
  system.err(among_pieces ? launch::pad_to_frame(marker) : marker);
}

// As a shell reports it: 127 not found, 126 found but not to be run.
int start_status(int code) { return code == ENOENT ? 127 : 126; }

// "#!/bin/sh\r": a script with the line ends of Windows, whose interpreter would be "/bin/sh\r".
bool has_windows_line_ends(System& system, const std::string& program) {
  constexpr std::uint64_t most_bytes = 512;
  try {
    const auto begin = system.files.read_from(find_program(system, program), 0, most_bytes);
    const std::string_view text = begin ? std::string_view(begin->bytes) : "";
    return text.starts_with("#!") && text.substr(0, text.find('\n')).ends_with('\r');
  } catch (const Error&) {
    return false;  // it cannot be read: the message names its interpreter
  }
}

int print_failure(System& system, const std::string& program, int code) {
  const std::string& host = system.environment.host_name;
  const std::string name = printable(program, 120), quoted = quote_shell(name);
  Message message{fmt::format("cannot start '{}': {}", name, std::strerror(code)),
                  place_of(system.environment), fmt::format("on {}: ls -l {}", host, quoted)};
  if (code == ECHILD) {
    message.what = fmt::format("cannot start '{}': its process guard, ddlrun-guard, was killed", name);
    message.hint = fmt::format("on {}: {}", host, find_killer);
  } else if (code == ENOENT && has_windows_line_ends(system, program)) {
    message.what = fmt::format(
        "cannot start '{}': its first line ends with a carriage return, as in files of "
        "Windows, and no interpreter has such a name",
        name);
    message.hint = fmt::format("sed -i 's/\\r$//' {}", quoted);
  } else if (code == ENOENT && !find_program(system, program).empty()) {
    message.what = fmt::format("cannot start '{}': its interpreter does not exist on {}", name, host);
    message.hint =
        fmt::format("on {}: file {}; head -1 {}   # both name the interpreter", host, quoted, quoted);
  } else if (code == ENOENT) {
    message.what = fmt::format("the program '{}' does not exist on {}", name, host);
    message.hint =
        name.find('/') == std::string::npos
            ? fmt::format("on {}: command -v {}; its directory must be in PATH there", host, quoted)
            : fmt::format("copy it to {}, or start it from a directory that all hosts share", host);
    if (std::string python = remedy_for_missing_python(system, program); !python.empty())
      message.hint = std::move(python);
  }
  system.err(render_error("ddlrun", message));
  return start_status(code);
}

void write_report(const ExecOptions& options, const RankReport& report) {
  const std::string line = render_status_line(options.status_token, report);
  write_status(options.frame_token().empty() ? line : pad_to_frame(line));
}

// A rank that ends before its program has started: without this line, launch would miss its host.
void report_no_start(System& system, const ExecOptions& options, int exit_status, int start_error) {
  const auto identity = find_rank_identity(system.environment.variables);
  if (options.status_token.empty() || !identity) return;
  write_report(
      options,
      {identity->rank, system.environment.host_name, RankStatus::ended, {}, exit_status, 0, start_error});
}

// The status lines of a supervisor: heartbeat of the host, stall and progress of the rank, its end.
class StatusReporter {
 public:
  StatusReporter(const ExecOptions& options, const Environment& environment,
                 const launch::RankIdentity& identity)
      : options_(options), stall_after_(options.stall_after) {
    reports_for_host_ = identity.local_rank.value_or(0) < launch::heartbeat_ranks;
    reports_traffic_ = identity.local_rank.value_or(0) == 0;
    report_.rank = identity.rank;
    report_.host = environment.host_name;
    const auto sample = [](int pid) { return sample_code(pid, 100, std::chrono::milliseconds(500)); };
    if (stall_after_ > 0) detector_.emplace(stall_after_, Steady::now(), sample);
    if (reports_for_host_) report(launch::RankStatus::heartbeat);
  }

  std::chrono::milliseconds interval() const {
    const auto look = launch::sample_interval(stall_after_ > 0 ? stall_after_ : 60);
    return reports_for_host_ ? std::min<std::chrono::milliseconds>(look, launch::heartbeat_interval) : look;
  }

  void use(const TreeUsage& usage) {
    const auto now = Steady::now();
    report_.usage = meter_.take(now, usage, has_gpu_);
    if (reports_traffic_) meter_.add_traffic(now, read_host_traffic(), *report_.usage);
    report(launch::RankStatus::heartbeat);
    report_.usage.reset();
  }

  void take(const TreeSnapshot& sample) {
    const auto now = Steady::now();
    has_gpu_ = has_gpu_ || sample.has_gpu;
    const launch::StallEvent event = detector_ ? detector_->take(now, sample) : launch::StallEvent();
    report_.stall = event.stall;
    if (event.kind == launch::StallEvent::stalled) return report(launch::RankStatus::stalled);
    if (event.kind == launch::StallEvent::resumed) return report(launch::RankStatus::resumed);
    if (event.kind == launch::StallEvent::computes) return report(launch::RankStatus::computes);
    if (reports_for_host_ && now - last_sign_ >= launch::heartbeat_interval - interval() / 2) {
      report(launch::RankStatus::heartbeat);
    }
  }

  void end(const ProcessResult& result, std::optional<std::string> oom_file) {
    report_.exit_status = result.exit_status;
    report_.signal = result.signal;
    report_.alone = result.signal == SIGKILL && result.forwarded_signal == 0;
    report_.oom_file = std::move(oom_file);
    report(launch::RankStatus::ended);
  }

 private:
  using Steady = std::chrono::steady_clock;

  void report(launch::RankStatus sign) {
    report_.sign = sign;
    last_sign_ = Steady::now();
    write_report(options_, report_);
  }

  const ExecOptions& options_;
  int stall_after_;
  bool reports_for_host_ = false, reports_traffic_ = false, has_gpu_ = false;
  launch::UsageMeter meter_{Steady::now()};
  launch::RankReport report_;
  std::optional<launch::StallDetector> detector_;
  Steady::time_point last_sign_;
};

// Returns only if the program could not be started: the errno.
int keep_program(System& system, const ExecOptions& options, const Command& program) {
  const auto identity = launch::find_rank_identity(system.environment.variables);
  Supervision supervision;
  if (!options.frame_token().empty() && identity) {
    supervision.marks_only_err = options.output_token.empty();
    auto marker = std::make_shared<launch::OutputFramer>(options.frame_token(), identity->rank);
    supervision.mark = [marker](int stream, std::string_view bytes) {
      return marker->mark(stream == 1 ? launch::RankStream::out : launch::RankStream::err, bytes);
    };
  }
  if (options.status_token.empty() || !identity) return supervise_program(program, supervision);
  supervision.saved_status = launch::saved_status;
  StatusReporter reporter(options, system.environment, *identity);
  supervision.on_sample = [&](const TreeSnapshot& sample) { reporter.take(sample); };
  supervision.every = reporter.interval();
  supervision.on_usage = [&](const TreeUsage& usage) { reporter.use(usage); };
  supervision.usage_every = usage_interval(identity->size.value_or(0));
  supervision.usage_first = first_usage(identity->rank, supervision.usage_every);
  const auto oom_before = launch::read_oom_kills(system);
  supervision.on_end = [&](const ProcessResult& end) {
    reporter.end(end, launch::find_oom_kill(system, oom_before, end));
  };
  return supervise_program(program, supervision);
}

void correct_slurm(const EnvVars& environment, const PreparedRank& prepared) {
  auto identity = find_rank_identity(environment);
  if (!identity) return;
  if (prepared.local_rank) identity->local_rank = prepared.local_rank;
  change_variables(correct_slurm_variables(*identity, prepared.node, environment), {});
}

int become_rank(System& system, const ExecOptions& options) {
  Command program = options.program;
  const bool rank_map = options.rank_map || !options.rank_map_file.empty();
  if (!options.colon.empty()) program = launch::restore_colons(std::move(program), options.colon);
  end_with_parent();
  PreparedRank prepared{std::move(program), std::nullopt, std::nullopt};
  if (rank_map) prepared = prepare_rank(system, options.rank_map_file, prepared.program);
  correct_slurm(system.environment.variables, prepared);
  program = std::move(prepared.program);
  if (program.empty() || program[0].empty()) {
    throw Error(ErrorKind::usage, {"no program to become", "after --", "ddlrun exec -- ./my_mpi_program"});
  }
  if (!options.placement_token.empty())
    report_place(system, options.placement_token, prepared.local_rank, !options.frame_token().empty());
  const int code = options.keep ? keep_program(system, options, program) : become_program(program);
  report_no_start(system, options, start_status(code), code);
  const int status = print_failure(system, program[0], code);
  if (options.keep) wait_for_delivery();
  return status;
}

int run_exec(System& outer, const ExecOptions& options) {
  Environment environment = outer.environment;
  // With a rank map another launcher than ours started this rank. Inherited numbers are those of an outer
  // rank.
  if (options.rank_map || !options.rank_map_file.empty()) forget_rank_numbers(environment.variables);
  System system{outer.processes, outer.files,       outer.clock,  environment,   outer.out,
                outer.err,       outer.program_err, outer.kernel, outer.terminal};
  try {
    return become_rank(system, options);
  } catch (const Error& error) {
    report_no_start(system, options, exit_code(error.kind()), 0);
    throw;
  }
}

}  // namespace

Subcommand exec_command() {
  Subcommand command;
  command.name = "exec";
  command.summary = "start one rank: apply its rank map, then run the program (used by launch)";
  command.examples = R"(  mpirun -n 2 ddlrun exec --report-placement mytoken -- ./my_mpi_program)";
  command.takes_program = true;
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<ExecOptions>();
    options->program = rest;
    app.add_flag("--rank-map", options->rank_map, "apply the rank map in DDLRUN_RANKS to this rank first");
    app.add_option("--rank-map-file", options->rank_map_file, "apply the rank map in FILE to this rank first")
        ->type_name("FILE");
    app.add_option("--report-placement", options->placement_token,
                   "print rank, host and cpuset to stderr, marked with TOKEN")
        ->type_name("TOKEN");
    app.add_flag("--supervise", options->keep,
                 "stay as the parent of the program and end all its processes with the job");
    app.add_option("--monitor", options->status_token,
                   "with --supervise: print the state of the rank to stderr, marked with TOKEN")
        ->type_name("TOKEN");
    app.add_option("--stall-timeout", options->stall_after,
                   "with --monitor: report no progress for N seconds")
        ->type_name("N");
    app.add_option("--frame-output", options->output_token,
                   "with --supervise: write the output of the program to stderr in frames marked with TOKEN")
        ->type_name("TOKEN");
    app.add_option("--frame-stderr", options->stderr_token,
                   "as --frame-output, for the stderr of the program alone")
        ->type_name("TOKEN");
    app.add_option("--colon", options->colon, "replace WORD by \":\" in the arguments of the program")
        ->type_name("WORD");
    return [options](System& system) { return run_exec(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
