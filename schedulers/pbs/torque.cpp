// SPDX-License-Identifier: MIT
// Torque, and Slurm's wrappers that print the same. qstat has neither history nor JSON; the wrapper has no
// exit status.
#include "base/text/error.hpp"
#include "schedulers/job/scheduler_kinds.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/pbs/pbs_answers.hpp"
#include "schedulers/slurm/slurm_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

constexpr int kTorqueUnknownJob = 153;
constexpr std::string_view kTorqueForgot =
    "qstat does not have this id (any more): it forgets a job some minutes after its end (keep_completed)";

bool torque_output_has(const ProcessResult& answer, std::string_view words) {
  return answer.err.find(words) != std::string::npos || answer.out.find(words) != std::string::npos;
}

// Slurm's wrapper passes sbatch's words on.
std::span<const KnownError> refusals(const ProcessResult& answer) {
  return find_known_error(slurm_refusals(), answer) != nullptr ? slurm_refusals() : pbs_refusals();
}

class Torque : public Scheduler {
 public:
  std::string_view name() const override { return "torque"; }
  std::string_view tool() const override { return "qsub"; }

  Script render(const JobSpec& job, const JobDirectory& dir,
                const templates::SiteProfile& site) const override {
    return render_torque(job, dir, site);
  }

  // Slurm's wrapper puts a log name of its own over the script's, unless one stands on the line.
  Command submit_command(const JobSpec& job, const std::string& script) const override {
    const JobDirectory dir{script.substr(0, script.rfind('/'))};
    // A template has no line of ours that writes the log.
    const bool ours = job.script_template.empty();
    return {"qsub", "-j", "oe", "-o", ours ? dir.spool() : output_path(job, dir), script};
  }

  std::vector<std::string> overriding_variables(const EnvVars& environment) const override {
    static constexpr std::array<std::string_view, 3> kPrefixes = {"PBS_DPREFIX", "SBATCH_", "SLURM_"};
    static constexpr std::array<std::string_view, 4> kKept = {"SLURM_CONF", "SLURM_CONF_SERVER",
                                                              "SLURM_CLUSTERS", "SLURM_JWT"};
    return variables_with(environment, kPrefixes, kKept);
  }

  JobId read_submission(const ProcessResult& answer) const override {
    if (!answer.ok()) throw_scheduler_error("qsub", answer, refusals(answer));
    if (const auto id = parse_qsub(answer.out)) return *id;
    throw Error(
        ErrorKind::scheduler,
        {fmt::format("qsub accepted the job, but its output has no job ID: \"{}\"", reported_text(answer)),
         "qsub", "qstat"});
  }

  std::map<JobId, JobStatus> read_states(std::span<const JobId> ids,
                                         const CommandRunner& ask) const override {
    std::map<JobId, JobStatus> statuses;
    if (ids.empty()) return statuses;
    const auto is_array = [](const JobId& id) { return id.find('[') != JobId::npos; };
    Command command = {"qstat", "-f"};
    if (std::any_of(ids.begin(), ids.end(), is_array)) command.emplace_back("-t");  // the wrapper has none
    command.insert(command.end(), ids.begin(), ids.end());
    const ProcessResult answer = ask(command);
    const bool answered = answer.start_error.empty() && !answer.timed_out &&
                          (answer.exit_status == 0 || answer.exit_status == kTorqueUnknownJob ||
                           torque_output_has(answer, "Unknown Job Id"));
    if (!answered) throw_query_error("qstat", answer);
    const std::vector<PbsJob> jobs = parse_qstat_text(answer.out);
    for (const JobId& id : ids) statuses[id] = status_of(id, jobs, torque_status, kTorqueForgot);
    return statuses;
  }

  Command cancel_command(const JobId& id) const override { return {"qdel", id}; }

  std::string read_cancellation(const JobId& id, const ProcessResult& answer) const override {
    if (torque_output_has(answer, "Unknown Job") || torque_output_has(answer, "Invalid job id"))
      return fmt::format("{} is already over, or never was: it is not known", id);
    if (torque_output_has(answer, "nvalid for state of job") ||
        torque_output_has(answer, "already completing or completed"))
      return fmt::format("{} is already over", id);
    if (!answer.ok()) throw_scheduler_error("qdel", answer, refusals(answer));
    return fmt::format("{} is being cancelled", id);
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_torque() { return std::make_unique<Torque>(); }

}  // namespace ddlrun::schedulers
