// SPDX-License-Identifier: MIT
#include "doctor/diagnose/job_diagnosis.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/submit_remedies.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace ddlrun::diagnose {

namespace {

// Words of one scheduler; one that ends with '_' or '=' begins a name.
constexpr auto slurm_words = std::to_array<std::string_view>(
    {"sbatch", "srun", "salloc", "sacct", "sacctmgr", "scontrol", "sinfo", "squeue", "scancel", "seff",
     "sprio", "#SBATCH", "--gres", "--gpus-per-node", "--ntasks-per-node", "SLURM_", "SBATCH_"});
constexpr auto pbs_words =
    std::to_array<std::string_view>({"qsub", "qstat", "qdel", "qalter", "qrls", "qhold", "qrerun", "qmgr",
                                     "pbsnodes", "tracejob", "#PBS", "PBS_", "select="});

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool has_word_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool is_begin = word.back() == '_' || word.back() == '=';
      const bool begins = at == 0 || !is_word_byte(text[at - 1]);
      if (begins && (is_begin || end == text.size() || !is_word_byte(text[end]))) return true;
    }
    return false;
  });
}

// Whether `text` is for users of the scheduler that the job does not have, and not for those of its own.
bool is_of_other(std::string_view text, LogSource scheduler) {
  const bool of_slurm = has_word_of(text, slurm_words), of_pbs = has_word_of(text, pbs_words);
  return scheduler == LogSource::pbs ? of_slurm && !of_pbs : of_pbs && !of_slurm;
}

// Of "sacct -j JOB ...; qstat -xf JOB   # limits" what the job's scheduler has; "" for nothing.
std::string fit_scheduler(const std::string& remedy, LogSource scheduler) {
  if (scheduler != LogSource::pbs && scheduler != LogSource::slurm) return remedy;
  const auto [commands, comment] = split_remedy(remedy);
  std::vector<std::string> kept = split_commands(commands);
  std::erase_if(kept, [&](const std::string& command) { return is_of_other(command, scheduler); });
  if (kept.empty()) return "";
  return join_commands(kept) + (is_of_other(comment, scheduler) ? "" : comment);
}

// JOB as a word of the command is this job.
std::string name_job(const std::string& remedy, const std::string& id) {
  if (id.empty()) return remedy;
  const auto [commands, comment] = split_remedy(remedy);
  return replace_word(commands, "JOB", quote_shell(id)) + comment;
}

// The user of a submitted job types neither mpirun nor srun.
std::string name_tagging(std::string remedy, const std::string& tagging) {
  const auto typed = tagging.empty() ? std::nullopt : find_tagging(remedy);
  return typed ? remedy.replace(typed->at, typed->size, tagging) : remedy;
}

std::vector<std::string> fit_words(const std::string& remedy, const JobContext& job) {
  std::string text = job.ends_stalls ? without_stall_advice(remedy) : remedy;
  text = name_tagging(std::move(text), job.tagging());
  if (job.submit.empty()) return {text};
  return as_submit_remedies(std::move(text), job.scheduler, job.submit);
}

void fit_remedies_to(Finding& finding, const JobContext& job, const RunTraits& traits) {
  fit_to_traits(finding.remedies, traits);
  std::vector<std::string> fitted;
  for (const std::string& remedy : finding.remedies) {
    for (const std::string& words : fit_words(remedy, job)) {
      std::string text = name_shape(fit_scheduler(words, job.scheduler), job.nodes, job.ranks_per_node);
      if (!text.empty()) fitted.push_back(name_job(name_program(std::move(text), job.program), job.id));
    }
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
  diagnosis.end.tagging = job.tagging();
  if (!diagnosis.traits.is_python) diagnosis.traits.is_python = starts_python(job.program);
  if (diagnosis.cause) fit_remedies_to(*diagnosis.cause, job, diagnosis.traits);
  for (Finding& finding : diagnosis.also_seen) fit_remedies_to(finding, job, diagnosis.traits);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
