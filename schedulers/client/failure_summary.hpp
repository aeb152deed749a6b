// SPDX-License-Identifier: MIT
// What a job that ended badly left behind about it: its log, what the scheduler caught, its script's own
// words.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/job_diagnosis.hpp"
#include "doctor/diagnose/signature.hpp"
#include "schedulers/client/job_ref.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct FailureSummary {
  std::string diagnosis;  // of the log; "" where there is none, or it stands in the log
  std::string first;      // "rank 3 on node2 failed first: exit status 4", or why the script started nothing
  std::vector<std::string> remedies;  // what the script and doctor recommend: any of them
  std::string title;                  // of the cause, in one line
  bool is_reason = false;             // `title` says why, not only how the job ended
  std::optional<int>
      status;  // of the rank that failed first, if the job's own is that of the ranks ended later

  // In one line; "" if the log has no cause.
  std::string cause() const;
};

// Status 75 (EX_TEMPFAIL): the program saved after a signal, as ddl-train does. `launch` does not restart it
// either.
bool is_saved_end(const JobStatus& status);
constexpr std::string_view saved_end_text = "stopped by its signal, and saved; resubmit continues";

// Whose words a failed job's log is read by.
diagnose::LogSource log_source_of(SchedulerKind kind);

FailureSummary read_job_words(System& system, const JobRef& job, const JobStatus& status);

// Where the job's script started nothing, by its own file: why, with the checks of doctor that failed, and
// the remedy; both "" otherwise.
FailureSummary read_script_words(System& system, const JobRef& job);

// The same of a log alone. The program may have printed these lines, so each remedy is marked as from the
// log.
FailureSummary read_script_words(System& system, const std::string& log);

// `all` for the log of this job. A program can print the line of a script that started nothing, so the
// signature of that line is left out where the file of a job of ddlrun does not show that doctor stopped it.
std::shared_ptr<const diagnose::SignatureSet> fit_signatures(
    System& system, const JobRef& job, std::shared_ptr<const diagnose::SignatureSet> all);

// What a diagnosis of the job's log needs: its scheduler and id, the options of submit, the scheduler's
// words.
diagnose::JobContext job_context(System& system, const JobRef& job, const JobStatus& status);

// The causes from the logs of the first few tasks that failed, as their `explained`; of logs with
// `most_bytes` at most.
void add_task_causes(System& system, JobStatus& status, std::uint64_t most_bytes);

// The cause as `explained`, and the first rank's status, of a job that ended badly: as remembered, else from
// its log where that has `most_bytes` at most.
void add_cause(System& system, const JobRef& job, JobStatus& status, std::uint64_t most_bytes);

}  // namespace ddlrun::schedulers
