// SPDX-License-Identifier: MIT
// OpenPBS and PBS Professional. One qstat lists all jobs, with history and sub-jobs; where this PBS has no
// history, or no JSON that can be read, the question is put again without.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/scheduler_kinds.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::schedulers {

namespace {

constexpr int kPbsUnknownJob = 153, kFinished = 35;
constexpr std::string_view kPbsForgot =
    "PBS does not have this id (any more): it keeps ended jobs for job_history_duration, or not at all "
    "(qstat -Bf)";

bool pbs_output_has(const ProcessResult& answer, std::string_view words) {
  return answer.err.find(words) != std::string::npos;
}

bool wants_other_options(const ProcessResult& answer) {
  return pbs_output_has(answer, "sage:") || pbs_output_has(answer, "invalid option") ||
         pbs_output_has(answer, "illegal option") || pbs_output_has(answer, "conflicting options");
}

// Whether it reported jobs, or that it has none of them.
bool is_answered(const ProcessResult& answer) {
  if (!answer.start_error.empty() || answer.timed_out) return false;
  return answer.exit_status == 0 || answer.exit_status == kPbsUnknownJob || answer.exit_status == kFinished ||
         pbs_output_has(answer, "Unknown Job Id") ||
         pbs_output_has(answer, "llegally formed job identifier") || pbs_output_has(answer, "has finished");
}

class Qstat {
 public:
  Qstat(std::span<const JobId> ids, const CommandRunner& ask) : ids_(ids), ask_(ask) {}

  std::vector<PbsJob> read() {
    ProcessResult answer = ask(true);
    if (pbs_output_has(answer, "job history") || pbs_output_has(answer, "maintain history")) {
      history_ = false;
      answer = ask(true);
    }
    if (is_answered(answer)) {
      if (trim(answer.out).empty()) return {};
      if (auto jobs = parse_qstat_json(answer.out)) return *jobs;
    } else if (!wants_other_options(answer)) {
      throw_query_error("qstat", answer);
    }
    // Older versions: no JSON, or such as holds a variable's quote or number unmended.
    answer = ask(false);
    if (!is_answered(answer)) throw_query_error("qstat", answer);
    return parse_qstat_text(answer.out);
  }

 private:
  ProcessResult ask(bool json) const {
    Command command = {"qstat"};
    if (history_) command.emplace_back("-x");
    command.insert(command.end(), {"-t", "-f"});
    if (json) command.insert(command.end(), {"-F", "json"});
    command.insert(command.end(), ids_.begin(), ids_.end());
    return ask_(command);
  }

  std::span<const JobId> ids_;
  const CommandRunner& ask_;
  bool history_ = true;
};

// The list of a large cluster's nodes is long: `ask` may give nothing for it after the first times.
void check_waiting(std::map<JobId, JobStatus>& statuses, const std::vector<PbsJob>& jobs,
                   const CommandRunner& ask) {
  std::optional<std::vector<PbsJob>> vnodes;
  for (auto& [id, status] : statuses) {
    if (!waits_for_nodes(status)) continue;
    if (!vnodes) vnodes = parse_pbsnodes(ask({"pbsnodes", "-a", "-F", "json"}).out);
    const auto job = find_pbs_job(id, jobs);
    if (job != jobs.end()) check_chunks_fit(status, *job, *vnodes);
  }
}

class Pbs : public Scheduler {
 public:
  std::string_view name() const override { return "pbs"; }
  std::string_view tool() const override { return "qsub"; }

  Script render(const JobSpec& job, const JobDirectory& dir,
                const templates::SiteProfile& site) const override {
    return render_pbs(job, dir, site);
  }

  Command submit_command(const JobSpec&, const std::string& script) const override {
    return {"qsub", script};
  }

  std::vector<std::string> overriding_variables(const EnvVars& environment) const override {
    static constexpr std::array<std::string_view, 1> kPrefixes = {"PBS_DPREFIX"};  // another word for "#PBS"
    return variables_with(environment, kPrefixes, {});
  }

  JobId read_submission(const ProcessResult& answer) const override {
    if (!answer.ok()) throw_scheduler_error("qsub", answer, pbs_refusals());
    if (const auto id = parse_qsub(answer.out)) return *id;
    throw Error(
        ErrorKind::scheduler,
        {fmt::format("qsub accepted the job, but its output has no job ID: \"{}\"", reported_text(answer)),
         "qsub", "qstat -u $USER"});
  }

  std::map<JobId, JobStatus> read_states(std::span<const JobId> ids,
                                         const CommandRunner& ask) const override {
    std::map<JobId, JobStatus> statuses;
    if (ids.empty()) return statuses;
    const std::vector<PbsJob> jobs = Qstat(ids, ask).read();
    for (const JobId& id : ids) statuses[id] = status_of(id, jobs, pbs_status, kPbsForgot);
    check_waiting(statuses, jobs, ask);
    return statuses;
  }

  Command cancel_command(const JobId& id) const override { return {"qdel", id}; }

  std::string read_cancellation(const JobId& id, const ProcessResult& answer) const override {
    if (answer.exit_status == kFinished || pbs_output_has(answer, "has finished"))
      return fmt::format("{} is already over", id);
    if (answer.exit_status == kPbsUnknownJob || pbs_output_has(answer, "Unknown Job"))
      return fmt::format("{} is already over, or never was: PBS does not have it", id);
    if (pbs_output_has(answer, "invalid for state of job")) return fmt::format("{} is already ending", id);
    if (!answer.ok()) throw_scheduler_error("qdel", answer, pbs_refusals());
    return fmt::format("{} is being cancelled", id);
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_pbs() { return std::make_unique<Pbs>(); }

}  // namespace ddlrun::schedulers
