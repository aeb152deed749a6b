// SPDX-License-Identifier: MIT
#include "doctor/diagnose/job_diagnosis.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::string_view comment_mark = "   # ";
constexpr std::array<std::string_view, 10> slurm_commands{
    "sbatch", "srun", "sacct", "sacctmgr", "scontrol", "sinfo", "squeue", "scancel", "seff", "sprio"};
constexpr std::array<std::string_view, 10> pbs_commands{"qsub",  "qstat",  "qdel", "qalter",   "qrls",
                                                        "qhold", "qrerun", "qmgr", "pbsnodes", "tracejob"};

// Whether `command` is one of the scheduler that the job does not have.
bool is_of_other(std::string_view command, LogSource scheduler) {
  const auto& others = scheduler == LogSource::pbs ? slurm_commands : pbs_commands;
  const std::string_view first = command.substr(0, command.find(' '));
  return std::ranges::find(others, first) != others.end() ||
         has(command, scheduler == LogSource::pbs ? "$SLURM_" : "$PBS_");
}

// Of "sacct -j JOB ...; qstat -xf JOB   # limits" what the job's scheduler has; "" for nothing.
std::string fit_scheduler(const std::string& remedy, LogSource scheduler) {
  if (scheduler != LogSource::pbs && scheduler != LogSource::slurm) return remedy;
  const std::size_t mark = std::min(remedy.find(comment_mark), remedy.size());
  const std::string_view commands = std::string_view(remedy).substr(0, mark);
  // A loop or quoted text is one command.
  const bool is_one = has(commands, "; do ") || commands.find_first_of("'\"`") != npos;
  std::vector<std::string> kept;
  for (std::string_view rest = commands; !rest.empty();) {
    const std::size_t end = is_one ? rest.size() : std::min(rest.find("; "), rest.size());
    if (!is_of_other(rest.substr(0, end), scheduler)) kept.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 2));
  }
  return kept.empty() ? "" : join(kept, "; ") + remedy.substr(mark);
}

// JOB as a word of the command is this job.
std::string name_job(const std::string& remedy, const std::string& id) {
  if (id.empty()) return remedy;
  const std::size_t mark = std::min(remedy.find(comment_mark), remedy.size());
  return replace_word(remedy.substr(0, mark), "JOB", quote_shell(id)) + remedy.substr(mark);
}

// The user of a submitted job types neither mpirun nor srun.
std::string name_tagging(std::string remedy, const std::string& tagging) {
  if (tagging.empty()) return remedy;
  for (const std::string_view typed :
       {"ddlrun launch --rank-output prefix", "mpirun --tag-output", "srun --label"}) {
    if (remedy.starts_with(typed)) return tagging + remedy.substr(typed.size());
  }
  return remedy;
}

void fit_remedies_to(Finding& finding, const JobContext& job) {
  std::vector<std::string> fitted;
  for (const std::string& remedy : finding.remedies) {
    std::string text = fit_scheduler(name_tagging(remedy, job.tagging), job.scheduler);
    if (!text.empty()) fitted.push_back(name_job(text, job.id));
  }
  if (!fitted.empty()) finding.remedies = std::move(fitted);
}

bool shows_cause(const Diagnosis& diagnosis) {
  return diagnosis.cause && diagnosis.cause->kind <= SignatureClass::likely;
}

void add_end(Diagnosis& diagnosis, const JobContext& job, const SignatureSet& signatures) {
  const Signature* end = find_signature(signatures, scheduler_end_id);
  if (job.end.empty() || end == nullptr || (shows_cause(diagnosis) && !job.is_certain)) return;
  TemplateValues with;
  with.value = job.end;
  if (diagnosis.cause) diagnosis.also_seen.insert(diagnosis.also_seen.begin(), *std::move(diagnosis.cause));
  diagnosis.cause = finding_of(*end, with);
  diagnosis.verdict = Verdict::cause_found;
  // No line of the log is the cause, and no rank failed first.
  diagnosis.salient_lines.clear();
  diagnosis.first_failing.reset();
}

}  // namespace

Diagnosis fit_to_job(Diagnosis diagnosis, const JobContext& job, const SignatureSet& signatures) {
  add_end(diagnosis, job, signatures);
  diagnosis.end.tagging = job.tagging;
  if (diagnosis.cause) fit_remedies_to(*diagnosis.cause, job);
  for (Finding& finding : diagnosis.also_seen) fit_remedies_to(finding, job);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
