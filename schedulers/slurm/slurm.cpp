// SPDX-License-Identifier: MIT
// Slurm. States: one squeue for all own jobs; what ended, and what squeue does not list, is asked of
// scontrol; what the controller has forgotten (after MinJobAge), of the accounting, where there is one.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/scheduler_kinds.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/slurm/slurm_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr std::string_view kUnknownId = "Invalid job id specified";

// "15_3;cluster"
struct Target {
  std::string id, cluster;
};

Target parse_target(const JobId& id) {
  const std::size_t semicolon = id.find(';');
  if (semicolon == std::string::npos) return {id, ""};
  return {id.substr(0, semicolon), id.substr(semicolon + 1)};
}

Command on_cluster(Command command, const std::string& cluster) {
  if (!cluster.empty()) command.insert(command.begin() + 1, {"-M", cluster});
  return command;
}

// `from` over `into`, by id.
void merge(std::vector<JobStatus>& into, const std::vector<JobStatus>& from, bool replace) {
  for (const JobStatus& status : from) {
    const auto same = [&](const JobStatus& other) { return other.id == status.id; };
    const auto found = std::find_if(into.begin(), into.end(), same);
    if (found == into.end())
      into.push_back(status);
    else if (replace)
      *found = status;
  }
}

// What is asked about the jobs of one cluster.
class ClusterQuestion {
 public:
  ClusterQuestion(std::string cluster, const CommandRunner& ask) : cluster_(std::move(cluster)), ask_(ask) {}

  std::map<JobId, JobStatus> read(const std::vector<JobId>& ids) {
    read_squeue();
    std::vector<JobId> to_account, to_show;
    for (const JobId& id : ids) {
      const auto rows = rows_of(id);
      const auto status = status_of(id, rows);
      if (std::any_of(rows.begin(), rows.end(), is_kept_back)) to_show.push_back(id);
      if (!rows.empty() && !is_over(status.state)) continue;
      if (!rows.empty()) to_show.push_back(id);
      // An array forgets its tasks one by one: those that ended early are in the accounting only.
      if (rows.empty() || !status.tasks.empty()) to_account.push_back(id);
    }
    if (!to_account.empty()) read_sacct(to_account);
    for (const JobId& id : to_account)
      if (rows_of(id).empty()) to_show.push_back(id);
    for (const JobId& id : to_show) read_scontrol(id);
    std::map<JobId, JobStatus> statuses;
    for (const JobId& id : ids) {
      JobStatus status = status_of(id, rows_of(id));
      const bool may_lack_tasks = !accounted_ && !status.tasks.empty() && is_over(status.state);
      status.may_lack_tasks = may_lack_tasks && status.explained.empty();
      if (status.may_lack_tasks)
        status.explained = fmt::format(
            "of the array Slurm still has {} tasks; it forgets those that ended long before one by one "
            "where "
            "there is no accounting: their own exit_status files have it",
            status.tasks.size());
      statuses[id] = std::move(status);
    }
    return statuses;
  }

 private:
  ProcessResult ask(Command command) const { return ask_(on_cluster(std::move(command), cluster_)); }

  void read_squeue() {
    const std::string format(kSqueueFormat);
    // -r: a row for each task. Not -j: one unknown id would fail the whole question.
    ProcessResult answer = ask({"squeue", "--me", "-h", "-r", "-t", "all", "-o", format});
    if (!answer.ok() && answer.err.find("--me") != std::string::npos)  // before 20.02
      answer = ask({"squeue", "-h", "-r", "-t", "all", "-o", format});
    if (!answer.ok()) throw_query_error("squeue", answer);
    known_ = parse_squeue(answer.out);
  }

  void read_scontrol(const JobId& id) {
    const ProcessResult answer = ask({"scontrol", "-o", "show", "job", id});
    if (answer.ok()) {
      merge(known_, parse_scontrol_jobs(answer.out), true);
    } else if (answer.err.find(kUnknownId) == std::string::npos) {
      const KnownError* row = find_known_error(slurm_refusals(), answer);
      if (!answer.start_error.empty() || answer.timed_out || (row != nullptr && row->unreachable))
        throw_query_error("scontrol", answer);
    }
  }

  void read_sacct(const std::vector<JobId>& ids) {
    const ProcessResult answer =
        ask({"sacct", "-X", "-n", "-P", "-j", join(ids, ","), "-o", std::string(kSacctFormat)});
    accounted_ = answer.ok();
    if (!accounted_) return;  // no accounting here: that is no finding
    std::vector<JobStatus> ended = parse_sacct(answer.out);
    // It lags behind, and may list jobs as running that no controller has.
    std::erase_if(ended, [](const JobStatus& status) { return !is_over(status.state); });
    merge(known_, ended, false);
  }

  // The job itself, or the tasks of an array, or the components of a heterogeneous job.
  std::vector<JobStatus> rows_of(const JobId& id) const {
    std::vector<JobStatus> rows;
    for (const JobStatus& status : known_)
      if (status.id == id) rows.push_back(status);
    if (!rows.empty() || id.find_first_of("_+") != JobId::npos) return rows;
    for (const JobStatus& status : known_)
      if (job_part(status.id) == id) rows.push_back(status);
    return rows;
  }

  static JobStatus status_of(const JobId& id, std::vector<JobStatus> rows) {
    if (rows.empty())
      return unknown_job(
          id,
          "Slurm does not have this id (any more): it forgets a job some minutes after its end "
          "(scontrol show config | grep MinJobAge)");
    if (rows.size() == 1 && rows.front().id == id) return rows.front();
    return join_tasks(id, std::move(rows));
  }

  std::string cluster_;
  const CommandRunner& ask_;
  std::vector<JobStatus> known_;
  bool accounted_ = true;
};

class Slurm : public Scheduler {
 public:
  std::string_view name() const override { return "slurm"; }
  std::string_view tool() const override { return "sbatch"; }

  Script render(const JobSpec& job, const JobDirectory& dir,
                const templates::SiteProfile& site) const override {
    return render_slurm(job, dir, site);
  }

  Command submit_command(const JobSpec&, const std::string& script) const override {
    return {"sbatch", "--parsable", script};
  }

  std::vector<std::string> overriding_variables(const EnvVars& environment) const override {
    // SBATCH_* win over the script's directives. SLURM_* of a job that this shell stands in would reach the
    // new job and its srun: SLURM_MEM_PER_CPU and SLURM_MEM_PER_NODE exclude each other.
    static constexpr std::array<std::string_view, 3> kPrefixes = {"SBATCH_", "SLURM_", "SRUN_"};
    static constexpr std::array<std::string_view, 4> kKept = {"SLURM_CONF", "SLURM_CONF_SERVER",
                                                              "SLURM_CLUSTERS", "SLURM_JWT"};
    return variables_with(environment, kPrefixes, kKept);
  }

  JobId read_submission(const ProcessResult& answer) const override {
    if (!answer.ok()) throw_scheduler_error("sbatch", answer, slurm_refusals());
    if (const auto id = parse_sbatch(answer.out)) return *id;
    throw Error(
        ErrorKind::scheduler,
        {fmt::format("sbatch accepted the job, but its output has no job ID: \"{}\"", reported_text(answer)),
         "sbatch", "squeue --me"});
  }

  std::map<JobId, JobStatus> read_states(std::span<const JobId> ids,
                                         const CommandRunner& ask) const override {
    std::map<std::string, std::vector<JobId>> by_cluster;
    for (const JobId& id : ids) by_cluster[parse_target(id).cluster].push_back(parse_target(id).id);
    std::map<std::string, std::map<JobId, JobStatus>> answers;
    for (const auto& [cluster, members] : by_cluster)
      answers[cluster] = ClusterQuestion(cluster, ask).read(members);
    std::map<JobId, JobStatus> statuses;
    for (const JobId& id : ids) {
      const Target target = parse_target(id);
      statuses[id] = answers[target.cluster][target.id];
      statuses[id].id = id;
    }
    return statuses;
  }

  // squeue has neither its name nor the paths in a form that can be told apart.
  JobStatus read_details(const JobId& id, const CommandRunner& ask) const override {
    const Target target = parse_target(id);
    const ProcessResult answer =
        ask(on_cluster({"scontrol", "-o", "show", "job", target.id}, target.cluster));
    for (JobStatus& status : parse_scontrol_jobs(answer.out)) {
      if (!answer.ok() || status.id != target.id) continue;
      status.id = id;
      return status;
    }
    return Scheduler::read_details(id, ask);
  }

  Command cancel_command(const JobId& id) const override {
    const Target target = parse_target(id);
    // -v: without it an unknown id is passed over silently.
    return on_cluster({"scancel", "-v", target.id}, target.cluster);
  }

  std::string read_cancellation(const JobId& id, const ProcessResult& answer) const override {
    const std::string output = answer.err + answer.out;
    if (output.find(kUnknownId) != std::string::npos)
      return fmt::format("{} is already over, or never was: Slurm does not have it", id);
    if (output.find("already completing or completed") != std::string::npos)
      return fmt::format("{} is already over", id);
    if (!answer.ok()) throw_scheduler_error("scancel", answer, slurm_refusals());
    return fmt::format("{} is being cancelled", id);
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_slurm() { return std::make_unique<Slurm>(); }

}  // namespace ddlrun::schedulers
