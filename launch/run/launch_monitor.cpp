// SPDX-License-Identifier: MIT
#include "launch/run/launch_monitor.hpp"

#include "base/os/program_path.hpp"
#include "base/process/posix_rank_supervisor.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/job_diagnosis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/site/site_signatures.hpp"
#include "launch/monitor/slurm_down_hosts.hpp"
#include "launch/plan/select_launcher.hpp"
#include "launch/rank/status_line.hpp"
#include "launch/rank/stderr_source.hpp"
#include "launch/run/end_messages.hpp"
#include "launch/run/print_placement.hpp"
#include "launch/run/rank_stdout.hpp"
#include "launch/run/run_remedies.hpp"
#include "launch/run/session_directory.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::chrono::seconds desertion_patience{5};
// The other ranks have so long to report failures of their own, with which mpiexec ends the job.
constexpr std::chrono::seconds failure_patience{2};
// A rank's end can be reported before the launcher has passed on its last lines, which a signal would drop.
constexpr std::chrono::seconds delivery_patience{1};
constexpr std::chrono::seconds stall_patience{10};  // for mpirun to end a stalled job by itself

bool is_crash(const ProcessResult& result) {
  return result.signal == SIGSEGV || result.signal == SIGBUS || result.signal == SIGABRT;
}

// The last line of a message of Open MPI and PRRTE.
constexpr std::string_view message_rule =
    "--------------------------------------------------------------------------\n";

bool has_lasted(std::optional<std::chrono::steady_clock::time_point>& since,
                std::chrono::steady_clock::time_point now, std::chrono::milliseconds patience) {
  if (!since) since = now;
  return now - *since >= patience;
}

}  // namespace

LaunchMonitor::LaunchMonitor(System& system, const LaunchRun& run)
    : system_(system),
      run_(run),
      placement_(run.plan.placed.job.ranks, run.plan.program.token),
      analysis_(static_cast<std::uint32_t>(run.plan.placed.job.ranks.size()), run.spec.output.writes_files(),
                [&system] { return diagnose::read_known_signatures(system); }) {
  const auto is_here = [&system](const std::string& host) {
    return topology::is_this_host(system.environment, host);
  };
  if (run.plan.program.has_status)
    ranks_.emplace(run.plan.placed.job.ranks, run.plan.program.token, system.clock.steady(), is_here,
                   is_hydra(run.plan.placed.kind()), run.spec.monitor.stall_timeout);
  const auto on_err = [this](std::uint32_t rank, std::string_view line) {
    last_.take(line);
    last_.take_of(rank, line);
    analyse(line, rank);
  };
  if (run.spec.output.is_framed() || run.plan.program.frames_stderr)
    output_.emplace(system, run.spec.output, run.run_dir, run.plan.program.token, on_err,
                    run.plan.placed.job.ranks.size());
  if (!ranks_) return;
  ranks_->explain_by([this](std::uint32_t rank) { return last_.exception_of(rank); },
                     remedy_for_exception(run.record.program, run.spec.framework.framework),
                     [this] { return !find_program(system_, "py-spy").empty(); });
  usage_.emplace(system, run, *ranks_, output_);
}

RunHooks LaunchMonitor::hooks() {
  RunHooks hooks;
  if (run_.plan.placed.kind() == LauncherKind::open_mpi)
    hooks.after_all = [this](int mpirun) { remove_session_directory(system_, mpirun); };
  if (run_.plan.program.token.empty() && !run_.spec.monitor.diagnose) return hooks;
  hooks.on_stderr_line = [this](std::string_view line) { take(line); };
  if (run_.plan.program.has_status) {
    hooks.tick = [this](const ChildView& mpirun) { return tick(system_.clock.steady(), mpirun); };
  }
  if (run_.plan.program.has_status && run_.command.forwards_end) {
    hooks.on_signal = [this](int signal, bool delivered) {
      ranks_->expect_saves();
      const auto now = system_.clock.steady();
      const bool can_save = ranks_->has_report() && job_end() == JobEnd::none;
      return delivered ? stop_.note(signal, now) : stop_.take(signal, can_save, now);
    };
  } else if (run_.plan.program.has_status) {
    hooks.on_signal = [this](int signal, bool) {
      ranks_->expect_saves();
      // The ssh launcher has a patience of its own.
      const bool is_ssh = run_.plan.placed.kind() == LauncherKind::ssh;
      return is_ssh ? signal : stop_.pass(signal, system_.clock.steady());
    };
  }
  if (output_) hooks.after_lines = [this] { output_->flush(); };
  return hooks;
}

void LaunchMonitor::take(std::string_view line) {
  // PRRTE 3.0.8 writes a NUL byte behind each of its messages (openpmix/prrte#1905).
  if (after_rule_ && line.starts_with('\0')) line.remove_prefix(1);
  after_rule_ = line.ends_with(message_rule);
  std::string rest = output_ ? output_->take(line) : std::string(line);
  if (rest.empty()) return;
  // What mpirun says of the signal that stands for TERM, and of the CONT that timeout(1) sends after each
  // signal.
  for (const int signal : {end_signal, SIGCONT})
    if (rest.find(fmt::format("Forwarding signal {} to job", signal)) != std::string::npos) return;
  std::optional<std::uint32_t> rank;
  if (run_.plan.placed.kind() == LauncherKind::ssh) {
    MarkedStderr marked = cut_stderr_marks(rest, run_.plan.program.token);
    rank = marked.rank;
    rest = std::move(marked.rest);
  }
  if (ranks_) {
    const auto now = system_.clock.steady();
    rest = ranks_->take_line(rest, now);
    if (ranks_->urgent()) report_events(now);
  }
  if (run_.plan.program.verify && !rest.empty()) rest = placement_.take_line(rest);
  daemons_.take_line(rest);
  const bool starts = ranks_ && !ranks_->has_report();
  end_announced_ = end_announced_ || announces_end(rest) || (starts && announces_refusal(rest));
  if (!announced_status_ && end_announced_) announced_status_ = reported_status(rest);
  analyse(rest, rank);
  if (!rest.empty()) {
    if (output_) output_->flush();  // what ranks wrote before it
    last_.take(rest);
    if (rank) last_.take_of(*rank, rest);
  }
  if (const std::string shown = trainer_printed_error_ ? banner_.take(rest) : rest; !shown.empty())
    system_.pass(shown);
  if (rank && usage_) usage_->take_output(*rank, rest);
  if (!run_.plan.program.verify || places_printed_ || !placement_.complete()) return;
  places_printed_ = true;
  print_places(system_, run_, placement_.rows());
}

void LaunchMonitor::analyse(std::string_view line, std::optional<std::uint32_t> rank) {
  const bool is_ending = ending_since_ || stop_.has_begun();
  if (!run_.spec.monitor.diagnose || (is_ending && hangs_behind_exception())) return;
  if (line.starts_with("ddl-train: error: ")) trainer_printed_error_ = run_.spec.output.shows();
  analysis_.take(line, rank);
}

void LaunchMonitor::report_events(Time now) {
  for (const MonitorEvent& news : ranks_->tick(now)) {
    if (news.resumed && (ending_since_ || stop_.has_begun())) continue;  // they wake to end
    stalled_ = stalled_ || news.stalled;
    const bool ends_run = news.stalled && run_.spec.monitor.end_on_stall;
    ends_run ? system_.show(render_event(news)) : system_.err(render_event(news));
  }
}

// A signal for mpirun, or 0.
int LaunchMonitor::tick(Time now, const ChildView& mpirun) {
  report_events(now);
  usage_->tick(now);
  if (output_) output_->tick();
  if (run_.plan.placed.kind() == LauncherKind::mpich) {
    if (is_deserted(now, mpirun.below.size())) return SIGKILL;
  } else if (is_lost(now, std::count(mpirun.below.begin(), mpirun.below.end(), "ssh"))) {
    return SIGKILL;
  }
  if (const auto& since = ending_since_ ? ending_since_ : overdue_since_)
    return now - *since > stall_patience ? SIGKILL : 0;
  std::string warning;
  if (const int signal = stop_.tick(now, warning); signal != 0) {
    system_.err("ddlrun: " + warning + "\n");
    return signal;
  }
  if (services_signalled_) return now - *services_signalled_ > stall_patience ? SIGKILL : 0;
  if (outlives_failure(now)) return SIGTERM;
  if (is_overdue(now, mpirun)) return stop_.has_mpirun() ? SIGKILL : stop_.note(SIGTERM, now);
  if (only_services_left()) {
    if (!has_lasted(only_services_since_, now, delivery_patience)) return 0;
    services_signalled_ = now;
    system_.err("ddlrun: all other ranks have ended well: those that serve them are ended\n");
    return SIGTERM;
  }
  if (!stalled_ || !run_.spec.monitor.end_on_stall) return 0;
  ending_since_ = now;
  system_.show("ddlrun: the job is ended, as --on-stall end asks\n");
  return SIGTERM;
}

// Open MPI ends the job for each rank that a signal ended. For an exit status it may be asked not to
// (orte_abort_on_non_zero_status), so only its message counts.
JobEnd LaunchMonitor::job_end() const {
  const MonitorRecord& record = ranks_->record();
  if (record.ends.size() == run_.plan.placed.job.ranks.size()) return JobEnd::all_ended;
  const bool by_signal = record.first_ended || (record.first_failure && record.first_failure->signal != 0);
  return end_announced_ || by_signal ? JobEnd::failing : JobEnd::none;
}

// Open MPI 5.0.7 can miss the end of a rank, and then waits forever (openpmix/prrte#2713). Open MPI 4.1 waits
// for its own lock where PMIx fails to store a message.
// A second TERM is urgent for mpirun, which then leaves its files: it is killed instead.
bool LaunchMonitor::is_overdue(Time now, const ChildView& mpirun) {
  if (run_.plan.placed.kind() != LauncherKind::open_mpi) return false;
  const JobEnd end = job_end();
  if (!overdue_.tick(now, end, mpirun)) return false;
  overdue_since_ = now;
  const Message message = overdue_message(end, *ranks_, run_.plan.placed.launcher.program);
  system_.err(render_message("ddlrun", end == JobEnd::failing ? "error" : "warning", message));
  return true;
}

// Open MPI's mpirun, srun, Intel MPI's mpiexec and the ssh launcher end the job with the first rank that
// fails. MPICH's mpiexec (4.0.2, 5.0.2) does so only for a rank that has called MPI_Init, or that a signal
// ended; then it forgets the hosts whose proxies had not connected yet, and waits for them.
bool LaunchMonitor::outlives_failure(Time now) {
  if (run_.plan.placed.kind() != LauncherKind::mpich) return false;
  const MonitorRecord& record = ranks_->record();
  const bool was_killed = record.first_ended && record.first_ended->signal == SIGKILL;
  if (!record.first_failure && !was_killed) return false;
  if (!has_lasted(failed_since_, now, failure_patience)) return false;
  overdue_since_ = now;
  system_.show(
      fmt::format("ddlrun: rank {} has failed: the other ranks are ended, as under other launchers\n",
                  (record.first_failure ? record.first_failure : record.first_ended)->rank));
  return true;
}

ProcessResult LaunchMonitor::result_of_job(ProcessResult result) {
  // A supervisor that is killed reports nothing: hydra fails with 255, srun has the 143 of other ranks.
  hides_kill_ = daemons_.lost().killed && !daemons_.lost().said && result.forwarded_signal == 0 &&
                (result.exit_status == 255 ? ranks_ && !ranks_->record().first_failure
                                           : result.exit_status == 143 && !has_own_failure());
  // Its loss ended the ranks; one that is lost before the launcher starts has an error of the start.
  if (result.guard_was_killed && result.start_error.empty()) hides_kill_ = true;
  if (hides_kill_) result.exit_status = 128 + SIGKILL;
  if (!overdue_since_) return result;
  const MonitorRecord& record = ranks_->record();
  const auto& first = record.first_failure ? record.first_failure : record.first_ended;
  result.signal = 0;
  result.exit_status =
      first ? first->exit_status : announced_status_.value_or(job_end() == JobEnd::all_ended ? 0 : 1);
  return result;
}

// Open MPI 5.0.11 exits with 255 where it loses a daemon, and SIGPIPE ends Intel MPI 2021.18: no message.
bool LaunchMonitor::lost_silently(const ProcessResult& result) const {
  const LauncherKind kind = run_.plan.placed.kind();
  const bool is_own = (kind == LauncherKind::open_mpi && result.exit_status == 255) ||
                      (kind == LauncherKind::intel_mpi && result.exit_status == 128 + SIGPIPE &&
                       run_.plan.placed.job.hosts.size() > 1 && !stdout_has_no_reader());
  return is_own && ranks_ && ranks_->has_report() && !has_own_failure();
}

bool LaunchMonitor::only_services_left() const {
  if (run_.plan.environment.service_ranks.empty()) return false;
  const auto& ends = ranks_->record().ends;
  const auto has_ended_well = [&](const PlannedRank& planned) {
    const auto end = ends.find(planned.rank);
    return run_.plan.environment.service_ranks.contains(planned.rank) ||
           (end != ends.end() && end->second == 0);
  };
  return std::all_of(run_.plan.placed.job.ranks.begin(), run_.plan.placed.job.ranks.end(), has_ended_well);
}

// mpirun ends its own ranks first, which takes 2 s, then those elsewhere, which takes 2 s more. Without it
// all of them end at once, because each host notices. Its word alone could be a program's output: an ssh must
// be gone too.
bool LaunchMonitor::is_lost(Time now, std::ptrdiff_t sshs) {
  most_sshs_ = std::max(most_sshs_, sshs);
  if (!daemons_.lost().said || !ranks_->has_report() || sshs == most_sshs_) return false;
  killed_lost_ = has_lasted(lost_since_, now, std::chrono::milliseconds(500));
  return killed_lost_;
}

// hydra waits forever for a host whose ssh is gone, or never came about.
bool LaunchMonitor::is_deserted(Time now, std::size_t below) {
  const bool grows = below > most_below_;
  most_below_ = std::max({most_below_, below, run_.command.connections});
  const bool fewer = below < most_below_ || below == 0;
  if (grows || !fewer || !ranks_->record().ends.empty()) {
    lost_since_.reset();
    return false;
  }
  if (killed_lost_ || !has_lasted(lost_since_, now, desertion_patience)) return killed_lost_;
  killed_lost_ = true;
  system_.err(render_message(
      "ddlrun", "error", lost_connections_message(most_below_ - below, most_below_, daemons_.lost().host)));
  return true;
}

// PRRTE 3.0.8 (Open MPI 5.0.7) exits with 0 after the loss of a host.
bool LaunchMonitor::is_failure(const ProcessResult& result) const {
  if (result.forwarded_signal != 0) return false;
  const bool all_well = ranks_ && all_ended_well(ranks_->record(), run_.plan.placed.job.ranks.size());
  return result.exit_status != 0 || (daemons_.lost().said && !all_well);
}

// Whether the launcher itself or its process guard ended before any rank failed: signals in the log are not a
// cause then.
bool LaunchMonitor::launcher_was_killed(const ProcessResult& result) const {
  if (!result.start_error.empty() || result.guard_was_killed) return result.start_error.empty();
  const LauncherKind kind = run_.plan.placed.kind();
  const bool ends_by_its_own = kind == LauncherKind::open_mpi || kind == LauncherKind::ssh;
  return ends_by_its_own && result.signal != 0 && is_failure(result) && !status(result) &&
         !(ranks_ && ranks_->record().first_failure);
}

std::string LaunchMonitor::diagnosis(const ProcessResult& result) {
  const bool hangs = hangs_behind_exception() && (ending_since_ || result.forwarded_signal != 0);
  if (!run_.spec.monitor.diagnose || !(is_failure(result) || hangs)) return {};
  // After a stall or the loss of a host that is the cause; the rest of the output is the noise of the ending.
  const bool never_started = daemons_.lost().said && ranks_ && !ranks_->has_report();
  if (status(result) && !never_started && !hangs) return {};
  const bool launcher_died = launcher_was_killed(result);
  cause_.was_printed = launcher_died;
  if (launcher_died && !is_crash(result)) return {};
  // What a status or silence means is known of Open MPI's mpirun only. The other launchers do not all report
  // which rank failed first; its supervisor does.
  const bool is_open_mpi = run_.plan.placed.kind() == LauncherKind::open_mpi;
  const auto first =
      ranks_ && !hangs ? find_first_failure(ranks_->record(), result.exit_status) : std::nullopt;
  const std::string report = first ? "ddlrun: " + render_first_failure(*first) : std::string();
  if (!is_open_mpi && first) analysis_.take_report(report);
  // Open MPI 5.0.7 does not always name the rank that was killed; the trainer's ranks name it before mpirun.
  if (is_open_mpi && first && first->alone) analysis_.take_report(report);
  if (first) analysis_.set_host(first->rank, first->host);
  const bool is_unsure = first && first->signal == 0 && !ranks_->record().failed_with.empty();
  const int end_status = hangs ? status(result).value_or(128 + result.forwarded_signal) : result.exit_status;
  const diagnose::RunStatus end = run_status_of(run_, end_status, first, is_unsure);
  diagnose::Diagnosis found;
  diagnose::JobContext job = job_context(system_.environment);
  job.ends_stalls = run_.spec.monitor.end_on_stall;
  job.program = run_.record.program;
  if (is_open_mpi || first || !last_.empty())  // of the other launchers silence shows nothing
    found = diagnose::fit_to_job(analysis_.diagnosis(end), job, *diagnose::builtin_signatures());
  found = analysis_.cite(std::move(found));
  if (first && !diagnose::is_sure(found)) complete_by_stdout(system_, run_, *first, end, job, found);
  FailureContext context{result.exit_status, first, report, launcher_died, trainer_printed_error_};
  context.in_job = in_scheduler_job(system_.environment);
  context.is_here = std::bind_front(topology::is_this_host, std::cref(system_.environment));
  context.knows_ranks = output_ || run_.plan.placed.kind() == LauncherKind::ssh;
  context.names_ranks = end.names_ranks || context.knows_ranks;
  if (ranks_) context.record = ranks_->record();
  if (first) context.last_lines = last_.lines_of(first->rank);
  cause_ = conclude_failure(std::move(found), run_, context);
  return cause_.text;
}

std::optional<int> LaunchMonitor::status(const ProcessResult& result) const {
  if (!is_failure(result)) return std::nullopt;
  if (ending_since_) return exit_code(ErrorKind::time_limit);
  if (services_signalled_) return 0;
  // Open MPI 4.1.4 gives 205 or 255 for a lost orted, also for one that is lost while it starts.
  const bool lost_daemon = daemons_.lost().said && ranks_ && !has_own_failure();
  if (killed_lost_ || !down_.empty() || result.exit_status == 0 || is_unreached() || lost_daemon ||
      lost_silently(result))
    return exit_code(ErrorKind::unreachable);
  return std::nullopt;
}

void LaunchMonitor::finish(const ProcessResult& result) {
  const bool failed = is_failure(result);
  if (const std::string rule = banner_.finish(); !rule.empty()) system_.err(rule);
  if (output_) output_->finish();
  if (ranks_) ranks_->finish(failed, daemons_.lost());
  if (usage_) usage_->finish();
  if (failed && ranks_ && !ranks_->has_report()) down_ = find_down_hosts(system_, run_.plan.placed.job.hosts);
  const auto& hosts = run_.plan.placed.job.hosts;
  const std::string& program = run_.plan.placed.launcher.program;
  const auto print = [this](const Message& message) {
    system_.err(render_message("ddlrun", "error", message));
  };
  if (!down_.empty()) print(down_hosts_message(down_));
  if (launcher_was_killed(result)) print(killed_launcher_message(result, program));
  if (failed && lost_silently(result) && !daemons_.lost().said && ranks_->record().lost_hosts.empty())
    print(silent_loss_message(hosts));
  if (failed && is_unreached()) print(unreached_message(program, hosts, daemons_.lost()));
  if (run_.plan.program.verify && !places_printed_ && result.start_error.empty())
    print_silent(system_, run_, placement_.rows());
}

std::optional<MonitorRecord> LaunchMonitor::watched() const {
  if (!ranks_) return std::nullopt;
  MonitorRecord record = ranks_->record();
  if (!ending_since_) record.stall.clear();  // the job went on
  if (hides_kill_) {                         // they followed
    record.first_failure.reset();
    record.first_ended.reset();
  }
  return record;
}

}  // namespace ddlrun::launch
