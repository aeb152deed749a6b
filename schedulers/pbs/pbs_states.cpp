// SPDX-License-Identifier: MIT
// From the attributes of a job in PBS and Torque to how it stands: state letter, substate, exit status.
#include "base/text/text.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr int kArrayBegun = 70;  // of an array that goes on: src/include/job.h
// Substates of a job in the history.
constexpr int kTerminated = 91, kFinishedState = 92, kFailed = 93;

struct OwnEnd {
  int status;
  JobState state;
  std::string_view explained;
};

constexpr std::string_view kWalltime =
    "its walltime was used up; request more (--walltime), or let it save and go on (--signal, --requeue)";
constexpr std::string_view kMemory =
    "it used more memory than it had requested; request more (--memory), or take fewer ranks per node";
constexpr std::string_view kNotStarted =
    "PBS could not start it on its first host; the administrators find why in that host's mom log";

// Exit statuses below 0 are PBS's own: src/include/job.h.
constexpr OwnEnd kPbsEnds[] = {
    {-1, JobState::failed, kNotStarted},
    {-2, JobState::failed, kNotStarted},
    {-3, JobState::failed, kNotStarted},
    {-4, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-5, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-6, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-10, JobState::failed, "its user or group is not known on the host"},
    {-11, JobState::cancelled, "it was put back into its queue (qrerun)"},
    {-12, JobState::cancelled, "it was saved and stopped (qhold)"},
    {-16, JobState::failed, "a hook of the site stopped it and put it back"},
    {-17, JobState::failed, "a hook of the site stopped it; ask the site's help desk"},
    {-19, JobState::failed, "a hook of the site deleted it; ask the site's help desk"},
    {-20, JobState::node_failed,
     "a host of it went away; submit again: pbsnodes -l lists those that are down"},
    {-24, JobState::failed, "its processes used more cores than it had requested (for a moment)"},
    {-25, JobState::failed, "its processes used more cores than it had requested (in the mean)"},
    {-26, JobState::out_of_memory, kMemory},
    {-27, JobState::out_of_memory, kMemory},
    {-28, JobState::timed_out, "its processor time (cput) was used up; request more"},
    {-29, JobState::timed_out, kWalltime},
};

constexpr OwnEnd kTorqueEnds[] = {
    {-1, JobState::failed, kNotStarted},
    {-2, JobState::failed, kNotStarted},
    {-3, JobState::failed, kNotStarted},
    {-4, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-5, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-6, JobState::node_failed, "the execution daemon of its first host started anew; submit again"},
    {-9, JobState::failed, "its output files could not be made; is their directory there, and writable?"},
    {-10, JobState::out_of_memory, kMemory},
    {-11, JobState::timed_out, kWalltime},
    {-12, JobState::timed_out, "its processor time (cput) was used up; request more"},
};

// "04:00:00" -> 14400
std::optional<std::uint64_t> seconds_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t seconds = 0;
  for (const std::string_view part : split(text, ':')) {
    const auto value = parse_unsigned(part, 1u << 30);
    if (!value) return std::nullopt;
    seconds = seconds * 60 + *value;
  }
  return seconds;
}

bool used_up_walltime(const PbsJob& job) {
  const auto used = seconds_of(job.get("resources_used.walltime"));
  const auto limit = seconds_of(job.get("Resource_List.walltime"));
  return used && limit && *used >= *limit;
}

// 0..127 as it is; 128 + signal if a shell reported it; 256 + signal where the script itself was ended.
void set_pbs_exit(JobStatus& status, int exit_status) {
  const int base = exit_status > 256 ? 256 : 128;
  const int signal = exit_status > base && exit_status - base <= 64 ? exit_status - base : 0;
  status.signal = signal;
  status.exit_status = base == 256 && signal != 0 ? 128 + signal : std::min(exit_status, 255);
  status.state = exit_status == 0 ? JobState::completed : JobState::failed;
}

void check_exit(JobStatus& status, const PbsJob& job, int exit_status, bool terminated,
                std::span<const OwnEnd> own_ends) {
  if (exit_status < 0) {
    status.state = JobState::failed;
    status.explained = "PBS ended it with its own code " + std::to_string(exit_status);
    for (const OwnEnd& end : own_ends) {
      if (end.status != exit_status) continue;
      status.state = end.state;
      status.explained = end.explained;
    }
    return;
  }
  set_pbs_exit(status, exit_status);
  const bool by_script_signal = exit_status > 256;
  if (by_script_signal && used_up_walltime(job)) {  // versions before the negative codes
    status.state = JobState::timed_out;
    status.explained = kWalltime;
  } else if (terminated || exit_status == 256 + 15) {
    status.state = JobState::cancelled;
  } else if (by_script_signal && status.signal == 9) {
    status.explained =
        "the script itself was killed with signal 9: by an administrator, or by the kernel of a host without "
        "memory";
  }
}

// "afterok:13.node1@node1,afterany:4[].node1@node1" -> "13.node1 4[].node1"
std::string waited_for(std::string_view depend) {
  std::vector<std::string> ids;
  for (const std::string_view kind : split(depend, ','))
    for (const std::string_view id : split(kind, ':'))
      if (!id.empty() && id[0] >= '0' && id[0] <= '9') ids.push_back(quote_shell(id.substr(0, id.find('@'))));
  return join(ids, " ");
}

bool has_run(const PbsJob& job) {
  return !job.get("exec_host").empty() || job.number("run_count").value_or(0) > 0;
}

// A task that PBS has no record of: it has the attributes of its array, the exit status too (OpenPBS 23.06,
// req_stat.c). It was deleted before it started, or it ended without job_history_enable.
bool lacks_record(const PbsJob& job) {
  return job.id.find('[') != std::string::npos && !has_run(job) && job.get("comment") == "Subjob finished";
}

void check_lost_task(JobStatus& status, const PbsJob& job, bool terminated) {
  status.reason.clear();
  status.state = JobState::unknown;
  if (terminated) {
    status.state = JobState::cancelled;
    status.explained = deleted_while_queued;
  } else if (job.number("substate") == kArrayBegun) {
    status.state = JobState::running;  // as its array, which PBS deletes, or whose other tasks go on
    status.explained = "PBS has no end of it before that of its array";
  } else if (job.number("Exit_status") == 0) {
    status.state = JobState::completed;  // as all tasks
    status.exit_status = 0;
  }
}

// Where the history holds no exit status.
void check_substate(JobStatus& status, const PbsJob& job) {
  const int substate = job.number("substate").value_or(0);
  const bool ran = has_run(job);
  const bool depends = !job.get("depend").empty();
  status.state = JobState::unknown;
  if (substate == kTerminated) {
    status.state = JobState::cancelled;
    if (!ran) status.explained = deleted_while_queued;
  } else if (substate == kFailed) {
    status.state = JobState::failed;
  } else if (substate == kFinishedState && (ran || status.word == "X")) {
    status.state = JobState::completed;
  } else if (substate == kFinishedState || (depends && !ran)) {
    status.state = JobState::cancelled;
    if (status.reason.empty() && !depends) status.reason = "never started";
    status.explained = depends
                           ? fmt::format(
                                 "PBS removed it before it started, by its dependency {0}: that job ended "
                                 "otherwise, or PBS does not have it; ddlrun status {1}",
                                 job.get("depend"), waited_for(job.get("depend")))
                           : "PBS removed it before it started, and gives no reason; tracejob " + job.id;
  }
}

JobState waiting_state(std::string_view word) {
  if (word == "R" || word == "E" || word == "B") return JobState::running;
  if (word == "H" || word == "S" || word == "U") return JobState::held;
  return JobState::queued;  // Q, W (until its time), T (between servers)
}

std::string explain_hold(const PbsJob& job) {
  const std::string types = job.get("Hold_Types");
  const std::string depend = job.get("depend");
  if (depend.find("after") != std::string::npos && types.find_first_of("uo") == std::string::npos)
    return "it starts when the job it depends on has ended as asked (" + depend + ")";
  if (types.find('u') != std::string::npos) return "held by its owner: qrls " + job.id;
  if (types.find_first_of("so") != std::string::npos)
    return "held by PBS or an operator: the comment in qstat -f " + job.id + " gives the reason";
  if (types.find('p') != std::string::npos) return "its last submission failed (password): submit again";
  return "";
}

// "n1/0*68+n2/0*68", "n1/1+n1/0" -> "n1,n2"
std::string hosts_of(std::string_view exec_host) {
  std::vector<std::string> hosts;
  for (const std::string_view part : split(exec_host, '+')) {
    const std::string host(part.substr(0, part.find('/')));
    if (!host.empty() && (hosts.empty() || std::ranges::find(hosts, host) == hosts.end()))
      hosts.push_back(host);
  }
  return join(hosts, ",");
}

// Of "Job run at Sat Nov 21 at 02:26 on (n1:ncpus=8) and terminated by ddl@n1" what no other column has:
// "terminated by ddl@n1".
std::string end_in_comment(const std::string& comment) {
  if (!comment.starts_with("Job run at ")) return comment;
  constexpr std::string_view hosts_end = ") and ";
  const std::size_t at = comment.rfind(hosts_end);
  const std::string end = at == std::string::npos ? "" : comment.substr(at + hosts_end.size());
  return end == "finished" || end == "failed" ? "" : end;
}

// "node1:/home/ddl/run.o28" -> "/home/ddl/run.o28"; in a directory PBS names the file by the job.
std::string log_path(const std::string& attribute, const std::string& id, std::string_view extension) {
  const std::size_t slash = attribute.find('/');
  if (slash == std::string::npos || attribute.find('^') != std::string::npos) return {};
  const std::string path = attribute.substr(slash);
  return path.ends_with('/') ? path + id + std::string(extension) : path;
}

// An interactive job (-I) has paths too, but its output goes to the terminal.
void set_logs(JobStatus& status, const PbsJob& job) {
  if (!job.get("interactive").empty()) return;
  const std::string joined = job.get("Join_Path");
  if (joined != "eo") status.output = log_path(job.get("Output_Path"), job.id, ".OU");
  if (joined != "oe") status.error_output = log_path(job.get("Error_Path"), job.id, ".ER");
  if (status.output.empty()) std::swap(status.output, status.error_output);
}

JobStatus common_status(const PbsJob& job) {
  JobStatus status;
  status.id = job.id;
  status.word = job.get("job_state");
  status.state = waiting_state(status.word);
  status.reason = job.get("comment");
  status.hosts = hosts_of(job.get("exec_host"));
  status.queue = job.get("queue");
  status.name = job.get("Job_Name");
  set_logs(status, job);
  if (!status.hosts.empty()) status.run_seconds = seconds_of(job.get("resources_used.walltime"));
  if (status.word == "H") {
    if (status.reason.empty()) status.reason = "Hold_Types=" + job.get("Hold_Types");
    status.explained = explain_hold(job);
  } else if (status.word == "S" || status.word == "U") {
    status.explained = "stopped for a while by the scheduler; it goes on by itself";
  } else if (status.word == "W") {
    status.explained = "it may not start yet: its begin time (-a) lies ahead, or its files are being staged";
  } else if (status.state == JobState::queued) {
    // Of its array: no reason why the task waits.
    if (status.reason.starts_with("Job Array Began at ")) status.reason.clear();
    status.explained = explain_pbs_comment(status.reason);
    status.never = status.word == "Q" && status.reason.find("Can Never Run") != std::string::npos;
    if (status.never) status.remedy = kLessOfIt;
  }
  return status;
}

}  // namespace

JobStatus pbs_status(const PbsJob& job) {
  JobStatus status = common_status(job);
  const int runs = job.number("run_count").value_or(0);
  status.restarts = runs > 1 ? runs - 1 : 0;
  if (status.word == "M") {
    status.state = JobState::unknown;
    status.explained = "it was moved to another server; ask there: qstat -f " + job.id + "@SERVER";
  } else if (status.word == "F" || status.word == "X") {
    const bool terminated = job.number("substate").value_or(0) == kTerminated;
    for (const std::string_view waited : {"Can Never Run", "Not Running"})
      if (status.reason.find(waited) == 0) status.reason.clear();  // why it waited is no end
    status.reason = end_in_comment(status.reason);
    if (lacks_record(job))
      check_lost_task(status, job, terminated);
    else if (const auto exit_status = job.number("Exit_status"))
      check_exit(status, job, *exit_status, terminated, kPbsEnds);
    else
      check_substate(status, job);
  }
  return status;
}

JobStatus torque_status(const PbsJob& job) {
  JobStatus status = common_status(job);
  const int starts = job.number("start_count").value_or(0);
  status.restarts = starts > 1 ? starts - 1 : 0;
  if (status.word == "C") {
    const auto exit_status = job.number("exit_status");
    if (exit_status) {
      check_exit(status, job, *exit_status, false, kTorqueEnds);
    } else {
      status.state = JobState::unknown;
      status.explained = "it is over; this qstat has no exit status, the job's own exit_status file has it";
    }
  } else if (status.word == "U") {  // Slurm's wrapper: any other state, also that of an ending job
    status.state = JobState::running;
    status.explained = "a state that Slurm's Torque wrapper has no letter for: squeue -j " + job.id;
  }
  return status;
}

}  // namespace ddlrun::schedulers
