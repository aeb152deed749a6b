// SPDX-License-Identifier: MIT
#include "doctor/diagnose/log_finding.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/message_parts.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

namespace {

// "line 12 of PATH", "PATH, line 12": "12"; "" for another message.
std::string line_of(std::string_view path, std::string_view message) {
  const std::size_t at = path.empty() ? npos : message.find(path), word = message.find("line ");
  if (at == npos || word == npos || word > at + path.size() + 4) return "";
  std::string_view number = message.substr(word + 5);
  number = number.substr(0, number.find_first_not_of("0123456789"));
  const std::string_view behind = message.substr(word + 5 + number.size());
  const bool is_near = word > at || starts_with_any(behind, {" of ", " in ", ", in "});
  return is_near ? std::string(number) : "";
}

// "job.sh: line 22: 31244 Segmentation fault (core dumped) ./solve": the shell's own line.
bool reports_end_of_child(std::string_view message) {
  return has(message, ": line ") &&
         has_any(message, {" Killed ", " Segmentation fault ", " Aborted ", " Terminated ", " Bus error ",
                           " Illegal instruction "});
}

}  // namespace

std::string tagging_command(const Diagnosis& diagnosis) {
  if (diagnosis.end.of_launch) return "ddlrun launch --rank-output prefix";
  return diagnosis.of_srun ? "srun --label" : "mpirun --tag-output";
}

LogLine in_source(LogLine line, const LogFacts& log, std::uint32_t source) {
  line.source = log.sources[source];
  return line;
}

std::string likely_host(const LogFacts& log) {
  const auto ended = log.matches.first_failed_rank(log.sources);
  if (ended && !ended->place.host.empty()) return ended->place.host;
  return log.hosts.size() == 1 ? *log.hosts.begin() : std::string();
}

Finding finding_for(const Signature& signature, Place place, const std::string& message, const LogFacts& log,
                    const Diagnosis& diagnosis, const std::string& script) {
  TemplateValues with;
  with.place = place;
  with.tagged = tagging_command(diagnosis);
  with.value = value_in(signature, message);
  if (with.value.empty()) with.value = diagnosis.status_meaning;
  with.path = path_in(message);
  with.library = library_in(message);
  with.port = port_in(message);
  with.script = script.empty() ? script_in(message) : script;
  if (with.place.host.empty()) with.place.host = likely_host(log);
  Finding finding = finding_of(signature, with);
  finding.place = std::move(place);
  return finding;
}

Finding likely_finding(const SalientLine& line, const Signature& error, const LogFacts& log,
                       const Diagnosis& diagnosis) {
  Finding finding = finding_for(error, line.place, line.line.text, log, diagnosis);
  finding.title = error_headline(line);
  finding.evidence.push_back(in_source(line.line, log, line.source));
  return finding;
}

bool is_head_of_known(const LogLine& line, const std::vector<Finding>& findings) {
  if (!has(line.text, "terminate called after throwing")) return false;
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.kind <= SignatureClass::ending &&
           std::ranges::any_of(finding.evidence, [&](const LogLine& known) {
             return known.source == line.source && known.line == line.line + 1 && has(known.text, "what():");
           });
  });
}

std::string text_after(const LogFacts& log, std::uint32_t source, std::uint64_t line) {
  std::string text;
  for (const SalientLine& kept : log.salient.kept()) {
    if (kept.source != source || kept.line.line != line) continue;
    for (const EvidenceLine& next : kept.following) text += '\n' + next.text;
  }
  return text;
}

void add_advice(Finding& finding, const std::string& message, std::size_t at) {
  auto& remedies = finding.remedies;
  const std::string advice = advice_in(message);
  const auto is_it = [&advice](const std::string& known) { return known.ends_with(advice); };
  if (advice.empty() || std::any_of(remedies.begin(), remedies.end(), is_it)) return;
  remedies.insert(remedies.begin() + static_cast<std::ptrdiff_t>(at), "as the log advises: " + advice);
}

void add_named_parts(Finding& finding, const std::string& message, const LogFacts& log) {
  const std::string host = finding.place.host.empty() ? likely_host(log) : finding.place.host;
  const std::string there = host.empty() ? "in the job" : "in the job, on " + quote_shell(host);
  const auto put = [&finding](const std::string& name, const std::string& remedy) {
    const auto names_it = [&name](const std::string& known) {
      return has(known, name) && !known.starts_with("grep -rnF ");
    };
    auto& all = finding.remedies;
    if (!name.empty() && std::none_of(all.begin(), all.end(), names_it)) all.insert(all.begin(), remedy);
  };
  if (reports_end_of_child(message)) return;  // the path is that of the job script
  const std::string named = file_with_line(message);
  const std::string path = named.empty() ? path_in(message) : named;
  const std::string option = option_in(message), variable = variable_in(message);
  if (const std::string place = line_of(path, message); !place.empty())
    put(path, fmt::format("sed -n {}p {}   # {}: the line that the message names", place, quote_shell(path),
                          there));
  put(path, fmt::format("ls -ld {}   # {}: is it there, and complete?", quote_shell(path), there));
  put(option, fmt::format("PROGRAM --help | grep -e {}   # {}: the values that it takes", quote_shell(option),
                          there));
  put(variable, fmt::format("env | grep {}   # {}: its value, if it is set", variable, there));
}

void add_search(Finding& finding, const std::string& message) {
  const std::string part = searchable_part(message);
  if (part.empty() || part.starts_with("C++ exception")) return;
  finding.remedies.insert(
      finding.remedies.begin(),
      fmt::format("grep -rnF {} DIR   # the source of the program or package: which condition prints it",
                  quote_shell(part)));
}

void put_scheduler_last(Finding& finding, const LogFacts& log, const Diagnosis& diagnosis) {
  const auto names_slurm = [](std::string_view text) {
    return has_any(text, {"slurm", "Slurm", "SLURM", "srun", "sbatch", "StepId"});
  };
  const auto line_names_slurm = [&](const LogLine& line) { return names_slurm(line.text); };
  const bool of_slurm = diagnosis.of_srun || names_slurm(finding.reference) || names_slurm(finding.cause) ||
                        names_slurm(finding.title) ||
                        std::any_of(log.sources.begin(), log.sources.end(), names_slurm) ||
                        std::any_of(finding.evidence.begin(), finding.evidence.end(), line_names_slurm);
  if (of_slurm) return;
  std::stable_partition(finding.remedies.begin(), finding.remedies.end(), [](const std::string& remedy) {
    return !starts_with_any(remedy, {"sbatch ", "srun ", "sacct ", "scontrol ", "sinfo ", "seff "});
  });
}

void add_tagging(Finding& finding, const LogFacts& log, const Diagnosis& diagnosis) {
  const bool has_launcher =
      log.of_mpi || diagnosis.of_srun || diagnosis.end.of_launch || diagnosis.end.from == LogSource::mpirun;
  if (!log.names_ranks && !diagnosis.is_tagged && has_launcher)
    finding.remedies.push_back(tagging_command(diagnosis) + " ...   # prints the rank on each line");
}

void fit_remedies_to_log(Diagnosis& diagnosis, const LogFacts& log) {
  diagnosis.traits = log.traits;
  diagnosis.traits.of_slurm = log.traits.of_slurm || diagnosis.of_srun;
  const auto fit = [&diagnosis](Finding& finding) {
    fit_to_traits(finding.remedies, diagnosis.traits);
    if (diagnosis.is_tagged) drop_tagging(finding.remedies);
  };
  if (diagnosis.cause) fit(*diagnosis.cause);
  std::ranges::for_each(diagnosis.also_seen, fit);
}

void insert_before(std::vector<Finding>& findings, SignatureClass kind, Finding finding) {
  const auto at =
      std::find_if(findings.begin(), findings.end(), [kind](const Finding& f) { return f.kind >= kind; });
  findings.insert(at, std::move(finding));
}

bool is_end_from_outside(const Finding& finding) {
  constexpr std::string_view ids[] = {"F37", "J64", "Y114", "Y170", "Y171"};  // Slurm, LSF, Nextflow
  return std::find(std::begin(ids), std::end(ids), finding.id) != std::end(ids);
}

bool shows_line(const Finding& finding, const std::string& source, std::uint64_t line) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const LogLine& l) { return l.source == source && l.line == line; });
}

}  // namespace ddlrun::diagnose
