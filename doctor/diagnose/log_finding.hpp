// SPDX-License-Identifier: MIT
// Findings that conclude() adds to those of the signatures: their texts, place and evidence.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

// The command that prints each line's rank before it, for the launcher of this run.
std::string tagging_command(const Diagnosis& diagnosis);

LogLine in_source(LogLine line, const LogFacts& log, std::uint32_t source);

// The host that a remedy means where its message names none: the one that failed, or the only one of the log;
// or "".
std::string likely_host(const LogFacts& log);

// A finding with the texts of `signature` for a message; the caller adds title and evidence. `script`: the
// file that it is about, where the message does not name it.
Finding finding_for(const Signature& signature, Place place, const std::string& message, const LogFacts& log,
                    const Diagnosis& diagnosis, const std::string& script = "");

// A finding of the class `error` for a line that no signature knows.
Finding likely_finding(const SalientLine& line, const Signature& error, const LogFacts& log,
                       const Diagnosis& diagnosis);

// "terminate called after throwing ...", whose what() on the next line is that of a known finding.
bool is_head_of_known(const LogLine& line, const std::vector<Finding>& findings);

// The lines after an error's own, where they were kept.
std::string text_after(const LogFacts& log, std::uint32_t source, std::uint64_t line);

// What the message itself advises becomes remedy number `at`, unless a remedy ends with it already.
void add_advice(Finding& finding, const std::string& message, std::size_t at);

// What looks at the option, the variable and the path that the message names comes first.
void add_named_parts(Finding& finding, const std::string& message, const LogFacts& log);

// What finds an unknown message in the source of its program comes first.
void add_search(Finding& finding, const std::string& message);

// Commands of Slurm come last where nothing shows that Slurm started the job.
void put_scheduler_last(Finding& finding, const LogFacts& log, const Diagnosis& diagnosis);

// Where no line has a rank before it, the next log of several ranks should have.
void add_tagging(Finding& finding, const LogFacts& log, const Diagnosis& diagnosis);

// Leaves out of all remedies what this log shows to be for other runs.
void fit_remedies_to_log(Diagnosis& diagnosis, const LogFacts& log);

// Before the first finding of class `kind` or a later one.
void insert_before(std::vector<Finding>& findings, SignatureClass kind, Finding finding);

// A person, a scheduler or a workflow manager ended the job, by its own message.
bool is_end_from_outside(const Finding& finding);

bool shows_line(const Finding& finding, const std::string& source, std::uint64_t line);

}  // namespace ddlrun::diagnose
