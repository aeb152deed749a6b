// SPDX-License-Identifier: MIT
#include "schedulers/client/job_follow.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_end.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_log.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {
using std::chrono::milliseconds;

constexpr milliseconds look_every{250};  // at the job's own files
constexpr double hint_seconds = 1;       // between queries while the files show that something happened
constexpr int hint_questions = 8;
constexpr int questions_with_nodes = 6;
constexpr double more_logs_every = 2;        // seconds between looks for further logs
constexpr int most_forgotten = 4;            // answers in a row without the job
constexpr double ending_seconds = 45;        // Slurm's KillWait is 30
constexpr double first_answer_seconds = 60;  // of the scheduler of jobs that no file here knows
constexpr int most_never = 2;  // answers that it can never run: the first may be due to a node that reboots

struct Followed {
  JobRef job;
  JobStatus status;
  std::string printed;
  bool over = false;
  int forgotten = 0;
  int never = 0;
  bool names_tasks = false;    // how to follow the tasks of an array is printed
  std::optional<int> written;  // by the job, when it ended
  double ending_since = 0;     // its script is over, and the scheduler does not let go of it
};

// What is printed if it changes: why a job waits its turn is left out.
std::string state_key(JobStatus status) {
  const auto forget_reason = [](JobStatus& waiting) {
    if (!waiting.waits_turn) return;
    waiting.reason.clear();
    waiting.explained.clear();
  };
  forget_reason(status);
  std::ranges::for_each(status.tasks, forget_reason);
  return render_state(status);
}

class Follower {
 public:
  Follower(System& system, const std::vector<JobRef>& jobs, const FollowOptions& options)
      : system_(system), options_(options) {
    for (const JobRef& job : jobs) followed_.emplace_back().job = job;
    is_recorded_ = std::ranges::any_of(jobs, &JobRef::submitted_here);
    began_at_ = now();
    if (options.log && jobs.size() == 1 && !jobs[0].output.empty())
      log_.emplace().add(jobs[0].output, LogPrinter::Title::none);
    if (log_ && !options.from_start) log_->skip_to_end(system);
  }

  int run() {
    while (true) {
      copy_log();
      look_for_hints();
      if (now() >= ask_at_) ask();
      if (std::all_of(followed_.begin(), followed_.end(), [](const Followed& one) { return one.over; }))
        break;
      if (const int signal = system_.clock.pause(look_every); signal != 0) return leave(signal);
    }
    copy_last_of_log();
    return print_end();
  }

 private:
  double now() const {
    return std::chrono::duration<double>(system_.clock.steady().time_since_epoch()).count();
  }
  void print(const std::string& text) {
    if (log_ && !log_->at_line_start() && system_.environment.stdout_is_terminal) system_.out("\n");
    system_.err("ddlrun: " + text + "\n");
  }

  void copy_log() {
    if (!log_) return;
    if (options_.find_more_logs && now() >= look_at_ + more_logs_every) {
      look_at_ = now();
      for (const std::string& log : options_.find_more_logs(system_)) log_->add(log);
    }
    const bool more = log_->print_new(system_);
    // It prints, so it runs, whatever state was reported last.
    if (more && followed_[0].status.state != JobState::running && now() >= spoke_at_ + 2) {
      spoke_at_ = now();
      hint();
    }
  }

  // The job has ended, but what it wrote may be under way to us.
  void copy_last_of_log() {
    if (!log_) return;
    copy_log();
    const bool ran = followed_[0].status.state != JobState::cancelled || log_->seen();
    for (int i = 0; i < (ran && !log_->seen() ? 8 : 1); ++i) {
      system_.clock.pause(look_every);
      copy_log();
    }
    log_->add(spool_log(system_, followed_[0].job));
    look_at_ = -more_logs_every;
    copy_log();
  }

  // The job's own files print sooner than the scheduler, who need not be asked often then.
  void hint() {
    hints_ = hint_questions;
    ask_at_ = now();
  }
  void look_for_hints() {
    for (Followed& one : followed_) {
      if (one.over || !one.job.submitted_here()) continue;
      const auto written = read_exit_status(system_, one.job);
      if (written && written != one.written) hint();
      one.written = written;
    }
  }

  void ask() {
    std::vector<JobRef> open;
    for (const Followed& one : followed_) {
      if (!one.over) open.push_back(one.job);
    }
    bool changed = false, failed = false;
    try {
      const bool first = questions_++ < questions_with_nodes;
      const auto states = read_job_states(system_, open, first ? NodeList::asked : NodeList::left_out);
      if (silent_) print("the scheduler answers again");
      silent_ = false;
      is_answered_ = true;
      std::size_t at = 0;
      for (Followed& one : followed_) {
        if (!one.over) changed = take(one, states[at++]) || changed;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unreachable) throw;
      failed = true;
      print_no_answer(error);
    }
    double pause = pace_.next(changed, failed);
    if (failed && may_not_exist()) pause = std::min(pause, began_at_ + first_answer_seconds - now());
    const bool soon = hints_ > 0 && !failed;
    if (hints_ > 0) --hints_;
    ask_at_ = now() + (soon ? std::min(pause, hint_seconds) : pause);
  }

  // No file here knows the jobs, and neither has the scheduler confirmed one.
  bool may_not_exist() const { return !is_recorded_ && !is_answered_; }

  // A failed query is not a failed job: repeat it. Meanwhile only the job's own exit_status file counts.
  void print_no_answer(const Error& error) {
    const Message& message = error.message();
    if (may_not_exist() && now() - began_at_ >= first_answer_seconds)
      throw Error(ErrorKind::unreachable,
                  {fmt::format("no answer for {:.0f} s about a job that ddlrun has no record of: {}",
                               first_answer_seconds, message.what),
                   message.where, message.hint});
    if (!silent_) {
      print(may_not_exist()
                ? fmt::format("{}; ddlrun tries again for {:.0f} s", message.what, first_answer_seconds)
                : fmt::format("{}; the job continues; ddlrun tries again", message.what));
    }
    silent_ = true;
    for (Followed& one : followed_) {
      if (one.over || !one.written || pace_.failures == 0) continue;
      one.status = status_of_written(one.job, *one.written, was_timed_out(system_, one.job));
      one.over = true;
    }
  }

  bool take(Followed& one, JobStatus status) {
    const std::string key = state_key(status);
    const bool changed = key != one.printed || status.restarts != one.status.restarts;
    one.forgotten = status.state == JobState::unknown ? one.forgotten + 1 : 0;
    one.never = status.never ? one.never + 1 : 0;
    const bool over = is_over(status.state) || one.forgotten >= most_forgotten || one.never >= most_never;
    if (changed && !over && one.forgotten == 0 && options_.print_states) {
      const bool again = status.restarts > one.status.restarts;
      print(fmt::format("job {}{}: {}", one.job.id, again ? fmt::format(", restart {}", status.restarts) : "",
                        render_state(status)));
    }
    if (status.state == JobState::running && !one.names_tasks) print_tasks(one, status);
    one.printed = key;
    one.status = std::move(status);
    one.over = (over && !goes_on(one)) || is_left_behind(one);
    return changed;
  }

  // Each task of an array has a log of its own: none is copied.
  void print_tasks(Followed& one, const JobStatus& status) {
    const auto task = std::ranges::find(status.tasks, JobState::running, &JobStatus::state);
    if (!options_.log || log_ || task == status.tasks.end()) return;
    one.names_tasks = true;
    print(fmt::format("its tasks have logs of their own: ddlrun logs -f {}; of all: ddlrun logs {}",
                      quote_shell(task->id), quote_shell(one.job.id)));
  }

  // A lost host keeps a job "completing" for minutes: what the script wrote is its end then.
  bool is_left_behind(Followed& one) {
    if (!one.written || !is_ending(one.status)) return false;
    if (one.ending_since == 0) one.ending_since = now();
    if (now() - one.ending_since < ending_seconds) return false;
    print(
        fmt::format("job {}: its script ended with status {}; the scheduler has been waiting for {} for {} s",
                    one.job.id, *one.written, one.status.hosts.empty() ? "its hosts" : one.status.hosts,
                    static_cast<int>(now() - one.ending_since)));
    const std::string hosts = one.status.hosts;
    one.status = status_of_written(one.job, *one.written, false);
    one.status.hosts = hosts;
    keep_end(one);
    return true;
  }

  // The status of this command: what the scheduler answers later does not change it.
  void keep_end(const Followed& one) {
    record_job_end(system_, one.job, one.status);
    remember_state(system_, one.job, one.status);
  }

  // Where a job cannot be started again under its own id, it has handed in the next and wrote down its id.
  bool goes_on(Followed& one) {
    const auto next = read_next_job(system_, one.job);
    if (!next) return false;
    print(fmt::format("job {} goes on as job {}", one.job.id, next->id));
    one = Followed{};
    one.job = *next;
    return true;
  }

  int print_end() {
    int first = 0;
    for (Followed& one : followed_) {
      if (options_.explain) print_outcome(system_, one.job, one.status);
      const int status = exit_status_of(one.status);
      if (first == 0) first = status;
    }
    return first;
  }

  int leave(int signal) {
    copy_log();
    std::string ids;
    for (const Followed& one : followed_) {
      if (!one.over) ids += " " + quote_shell(one.job.id);
    }
    const bool many = std::count(ids.begin(), ids.end(), ' ') > 1;
    print(fmt::format("job{}{} left alone, {} on; ddlrun logs -f{} follows, ddlrun cancel{} ends {}",
                      many ? "s" : "", ids, many ? "they go" : "it goes", many ? " ID" : ids, ids,
                      many ? "them" : "it"));
    return 128 + signal;
  }

  System& system_;
  FollowOptions options_;
  std::vector<Followed> followed_;
  std::optional<LogPrinter> log_;
  double look_at_ = -more_logs_every;  // for further logs
  PollBackoff pace_;
  double ask_at_ = 0;
  double spoke_at_ = 0;  // when its speaking was last taken for a hint
  int hints_ = 0;
  int questions_ = 0;
  bool silent_ = false;
  bool is_recorded_ = false;  // one of the jobs, by this user's ddlrun
  bool is_answered_ = false;  // by the scheduler, at least once
  double began_at_ = 0;
};

}  // namespace

int follow_jobs(System& system, const std::vector<JobRef>& jobs, const FollowOptions& options) {
  return Follower(system, jobs, options).run();
}

int check_new_job(System& system, const JobRef& job) {
  if (job.scheduler == SchedulerKind::local) return 0;
  int never = 0;
  for (const milliseconds pause :
       {milliseconds(500), milliseconds(1000), milliseconds(1500), milliseconds(2000)}) {
    if (system.clock.pause(pause) != 0) return 0;
    UnreachableSchedulers unreachable;
    JobStatus status = read_job_states(system, {job}, unreachable).front();
    const bool has_reason = !status.reason.empty() && status.reason != "None";
    if (status.state != JobState::queued || (has_reason && !status.never)) return 0;
    never = status.never ? never + 1 : 0;
    if (never < most_never) continue;
    print_outcome(system, job, status);
    return exit_status_of(status);
  }
  return 0;
}

}  // namespace ddlrun::schedulers
