// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/option_values.hpp"
#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "launch/history/run_store.hpp"
#include "launch/monitor/rank_files.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

using diagnose::LogSource;
using diagnose::RunStatus;
using diagnose::Signature;
using diagnose::SignatureSet;

struct DiagnoseOptions {
  std::vector<std::string> logs;
  std::string status, from, signatures, explain;
  bool json = false, list = false;
};

constexpr std::uint64_t max_signature_bytes = 1u << 20;
constexpr std::string_view how_to_log = "mpirun --tag-output ... 2>&1 | tee job.log";

std::shared_ptr<const SignatureSet> read_signatures(System& system, const std::string& file) {
  if (file.empty()) return diagnose::builtin_signatures();
  SignatureSet own = diagnose::parse_signatures(system.files.read(file, max_signature_bytes), file);
  return std::make_shared<const SignatureSet>(
      diagnose::merge_signatures(*diagnose::builtin_signatures(), std::move(own)));
}

RunStatus parse_run_status(const DiagnoseOptions& options) {
  RunStatus end;
  if (!options.from.empty()) {
    if (options.from == "mpirun") end.from = LogSource::mpirun;
    if (options.from == "pbs") end.from = LogSource::pbs;
    if (options.from == "slurm") end.from = LogSource::slurm;
    if (end.from == LogSource::unknown) {
      throw Error(ErrorKind::usage,
                  {fmt::format("--from must be mpirun, pbs or slurm, not '{}'", printable(options.from, 40)),
                   "--from", "omit --from for any other program"});
    }
  }
  if (options.status.empty()) return end;
  const bool negative = options.status[0] == '-';
  // A shell's status is at most 255; PBS adds 256 to a signal. Negative: signals, and PBS's own reasons.
  const auto number =
      parse_unsigned(std::string_view(options.status).substr(negative ? 1 : 0), negative ? 255 : 256 + 64);
  if (!number) {
    throw Error(ErrorKind::usage,
                {fmt::format("--status must be an exit status, not '{}'", printable(options.status, 40)),
                 "--status", "--status 137; in the shell right after the run: --status $?"});
  }
  end.status = (negative ? -1 : 1) * static_cast<int>(*number);
  return end;
}

// The command to try for a file that is not text; "" for text.
std::string binary_file_hint(std::string_view begin, const std::string& log) {
  if (begin.starts_with("\x1f\x8b")) return "zcat " + quote_shell(log) + " | ddlrun diagnose -";
  if (begin.starts_with("\xfd"
                        "7zXZ"))
    return "xzcat " + quote_shell(log) + " | ddlrun diagnose -";
  if (begin.starts_with("\x28\xb5\x2f\xfd")) return "zstdcat " + quote_shell(log) + " | ddlrun diagnose -";
  const std::string_view head = begin.substr(0, 4096);
  std::size_t control_bytes = 0;
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x07 || (byte >= 0x0e && byte < 0x1b)) ++control_bytes;
  }
  if (begin.starts_with("\x7f"
                        "ELF") ||
      control_bytes > head.size() / 10)
    return "file " + quote_shell(log) + "   # is it a log?";
  return "";
}

// False where the file is not text: only its first block is read. For a single log that is an error.
bool take_log(System& system, diagnose::LogAnalysis& analysis, const std::string& log, bool alone) {
  bool first = true;
  Message refused;
  system.files.read_blocks(log, [&](std::string_view block) {
    if (first) {
      const std::string hint = binary_file_hint(block, log);
      if (!hint.empty()) refused = {"not a text file", printable(log), hint};
      if (hint.empty()) analysis.begin_source(log);
      first = false;
    }
    if (refused.what.empty()) analysis.take(block);
  });
  if (refused.what.empty()) {
    if (first) analysis.begin_source(log);
    analysis.end_source();
    return true;
  }
  if (alone) throw Error(ErrorKind::request, refused);
  refused.what += ", skipped";
  system.err(render_message("ddlrun", "warning", refused));
  return false;
}

std::vector<std::string> input_logs(const System& system, const DiagnoseOptions& options) {
  if (!options.logs.empty()) return options.logs;
  if (!system.environment.stdin_is_terminal) return {"-"};
  throw Error(ErrorKind::usage,
              {"no log given", "", "ddlrun diagnose job.log; or " + std::string(how_to_log)});
}

// What is to be diagnosed: logs as named, or what the directory of a run or a job has of them.
struct DiagnoseInput {
  std::vector<std::string> logs;
  RunStatus end;
  std::string recorded;                 // the diagnosis that launch made at the end of the run
  std::vector<std::string> last_lines;  // of stderr, where no log was kept
  std::string directory;
  std::optional<diagnose::JobContext> job;
};

DiagnoseInput read_run_directory(System& system, const std::string& directory, RunStatus end) {
  const launch::RunRecord run = launch::read_run(system, directory, false);
  DiagnoseInput input{{}, end, run.diagnosis, run.last_lines, directory, {}};
  if (run.end && !end.status) {
    input.end.status = run.end->exit_status;
    if (end.from == LogSource::unknown && run.launcher == "openmpi") input.end.from = LogSource::mpirun;
  }
  for (std::uint32_t rank = 0; rank < run.rank_count; ++rank) {
    for (const auto stream : {launch::RankStream::out, launch::RankStream::err}) {
      std::string file = launch::rank_file(directory, rank, stream);
      if (system.files.exists(file)) input.logs.push_back(std::move(file));
    }
  }
  return input;
}

// How it stands, by its scheduler; as last seen where that does not answer.
schedulers::JobStatus read_state(System& system, const schedulers::JobRef& job) {
  schedulers::UnreachableSchedulers unreachable;
  auto state =
      schedulers::read_job_states(system, {job}, unreachable, schedulers::NodeList::left_out).front();
  schedulers::warn_of_unreachable(system, unreachable);
  if (!state.exit_status && is_over(job.last.state)) state.exit_status = job.last.exit_status;
  return state;
}

std::vector<std::string> logs_of(System& system, const schedulers::JobRef& job) {
  std::vector<std::string> logs;
  const bool has_spool = job.submitted_here() && schedulers::is_pbs_like(job.scheduler);
  for (const std::string& log : {job.output, job.error_output, has_spool ? job.files().spool() : ""})
    if (!log.empty() && system.files.exists(log)) logs.push_back(log);
  return logs;
}

// Its logs, as `ddlrun logs` finds them, its exit status, and how its scheduler says that it ended. Of an
// array, those of the first task that failed.
DiagnoseInput read_job(System& system, schedulers::JobRef job, RunStatus end) {
  schedulers::JobStatus state = read_state(system, job);
  const std::string task = schedulers::telling_task(state.tasks);
  if (const auto part = task.empty() ? std::nullopt : schedulers::find_remembered_job(system, task)) {
    system.err(fmt::format("ddlrun: of job {}: task {}\n", printable(job.id), printable(task)));
    job = *part;
    state = read_state(system, job);
  }
  const std::string id = printable(job.id);
  DiagnoseInput input{
      logs_of(system, job), end, {}, {}, job.dir, schedulers::job_context(system, job, state)};
  const bool has_log = !job.output.empty() || !job.error_output.empty();
  if (input.logs.empty() && input.job->end.empty()) {
    if (!has_log) throw Error(ErrorKind::request, schedulers::why_no_log(system, job, "diagnose"));
    throw Error(ErrorKind::request, {fmt::format("job {} has no output yet", id), printable(job.output),
                                     "ddlrun status " + quote_shell(job.id)});
  }
  if (end.status) return input;
  if (is_over(state.state)) input.end.status = state.exit_status;
  if (!input.end.status) input.end.status = schedulers::read_exit_status(system, job);
  if (end.from == LogSource::unknown) input.end.from = schedulers::log_source_of(job.scheduler);
  return input;
}

// The job that the run belongs to, by its record or its directory: the id of a job without a scheduler is
// longer than in the record.
std::optional<schedulers::JobRef> find_job_of(System& system, const launch::ListedRun& run) {
  constexpr std::size_t most_jobs = 100;
  try {
    const std::string id = launch::read_run(system, run.directory, false).job;
    auto job = id.empty() ? std::nullopt : schedulers::find_remembered_job(system, id);
    if (job && job->id == id) return job;
  } catch (const Error&) {
    return std::nullopt;  // a damaged record: the run itself is refused with its reason
  }
  for (const auto& [job, state] : schedulers::remembered_jobs(system, most_jobs))
    if (run.directory.starts_with(job.dir + "/")) return job;
  return std::nullopt;
}

// By `last`, the newest job is meant, unless a run is newer or the job has no output yet. Of a run in a job,
// the job.
std::optional<schedulers::JobRef> find_meant_job(System& system, const std::string& word) {
  auto job = schedulers::find_remembered_job(system, word);
  if (!job || word != "last") return job;
  const auto runs = launch::list_runs(system);
  if (runs.empty()) return job;
  std::string submitted;  // "2026-11-25 22:32:37" -> "20261125-223237", as the id of a run begins
  for (const char c : job->submitted)
    if (c != '-' && c != ':') submitted += c == ' ' ? '-' : c;
  const bool has_ended = is_over(job->last.state) || system.files.exists(job->output);
  if (runs.front().id < submitted && has_ended) return job;
  return find_job_of(system, runs.front());
}

// A job that the scheduler of this machine knows, and no run.
std::optional<schedulers::JobRef> find_foreign_job(System& system, const std::string& word) {
  try {
    auto job = schedulers::find_jobs(system, {word}).front();
    schedulers::read_foreign_job(system, job);
    const bool is_known = job.last.state != schedulers::JobState::unknown;
    return is_known ? std::optional(std::move(job)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // no id of a job, no scheduler, or one that does not answer
  }
}

// A word that is no file: the id of a job or of a run; `last`: the newest of both.
DiagnoseInput read_job_or_run(System& system, const std::string& word, RunStatus end) {
  if (const auto job = find_meant_job(system, word)) return read_job(system, *job, end);
  std::string directory;
  try {
    directory = launch::find_run_directory(system, word);
  } catch (const Error& error) {
    if (const auto foreign = find_foreign_job(system, word)) return read_job(system, *foreign, end);
    throw Error(error.kind(),
                {fmt::format("'{}' is no file and no job: {}", printable(word, 60), error.message().what), "",
                 "ddlrun jobs, ddlrun history: their ids; or ddlrun diagnose job.log"});
  }
  return read_run_directory(system, directory, end);
}

DiagnoseInput read_input(System& system, const DiagnoseOptions& options) {
  const RunStatus end = parse_run_status(options);
  DiagnoseInput input{input_logs(system, options), end, {}, {}, {}, {}};
  if (input.logs.size() != 1) return input;
  const std::string& word = input.logs[0];
  if (system.files.exists(word + "/run.json")) return read_run_directory(system, word, end);
  if (word != "-" && word.find('/') == std::string::npos && !system.files.exists(word))
    return read_job_or_run(system, word, end);
  if (schedulers::JobRef job; system.files.exists(word + "/output.log")) {  // a job's directory
    job.dir = word;
    if (!end.status) input.end.status = schedulers::read_exit_status(system, job);
    input.logs = {word + "/output.log"};
  }
  return input;
}

int print_recorded(System& system, const DiagnoseInput& input) {
  system.err("ddlrun: as launch found it, in " + input.directory + "/run.json:\n");
  system.out(coloured_report(system.environment, input.recorded));
  return 1;
}

// With what the scheduler says of a job, and what its script says where it started nothing.
diagnose::Diagnosis complete(System& system, const DiagnoseInput& input, diagnose::Diagnosis diagnosis) {
  if (input.job) diagnosis = fit_to_job(std::move(diagnosis), *input.job, *diagnose::builtin_signatures());
  if (!diagnosis.cause || diagnosis.cause->id != diagnose::nothing_started_id) return diagnosis;
  const auto words = schedulers::read_script_words(system, diagnosis.cause->evidence.front().source);
  if (words.first.empty()) return diagnosis;
  constexpr std::string_view checks_lead = ": nothing is started: ";
  const std::size_t checks = words.first.find(checks_lead);
  const bool names_checks = checks != std::string::npos;
  diagnosis.cause->title = "the job script started nothing: " +
                           (names_checks ? words.first.substr(checks + checks_lead.size()) : words.first);
  // With its own remedy a check is mended; whether --doctor warn helps is known there too.
  auto& remedies = diagnosis.cause->remedies;
  if (names_checks) remedies.resize(1);
  remedies.insert(remedies.begin(), words.remedy);
  return diagnosis;
}

int run_on_logs(System& system, const DiagnoseOptions& options) {
  const DiagnoseInput input = read_input(system, options);
  if (!input.recorded.empty() && !options.json && options.signatures.empty() && options.status.empty())
    return print_recorded(system, input);
  const RunStatus& end = input.end;
  const std::vector<std::string>& logs = input.logs;
  diagnose::LogAnalysis analysis(read_signatures(system, options.signatures));
  std::size_t read_count = 0;
  for (const std::string& log : logs) read_count += take_log(system, analysis, log, logs.size() == 1) ? 1 : 0;
  if (logs.empty()) {
    analysis.begin_source("stderr");
    for (const std::string& line : input.last_lines) analysis.take(line + "\n");
    analysis.end_source();
  } else if (read_count == 0)
    throw Error(ErrorKind::request, {fmt::format("all {} logs are binary files", logs.size()),
                                     printable(logs[0]), "file " + quote_shell(logs[0])});
  const diagnose::Diagnosis diagnosis = complete(system, input, analysis.diagnosis(end));
  const bool is_silent = diagnosis.bytes == 0 && !end.status && !diagnosis.cause;
  if (logs.empty() && is_silent)
    throw Error(ErrorKind::request,
                {"the run has not ended, and its output is not in files", printable(input.directory),
                 "ddlrun launch --tee ...   # keeps each rank's output in the run directory"});
  if (is_silent) {
    throw Error(ErrorKind::request,
                {logs.size() == 1 ? "the log is empty" : fmt::format("all {} logs are empty", logs.size()),
                 printable(logs[0]),
                 std::string(how_to_log) + "; of a status alone: ddlrun diagnose --status N --from mpirun"});
  }
  system.out(options.json ? diagnose::render_diagnosis_json(diagnosis)
                          : coloured_report(system.environment, diagnose::render_diagnosis(diagnosis)));
  return diagnose::exit_code(diagnosis);
}

int run_list(System& system, const DiagnoseOptions& options) {
  const auto set = read_signatures(system, options.signatures);
  std::vector<const Signature*> all;
  for (const Signature& signature : set->signatures) all.push_back(&signature);
  if (options.json) {
    system.out(diagnose::render_signatures_json(all));
    return 0;
  }
  std::string text;
  for (const Signature* signature : all) text += diagnose::render_signature_line(*signature);
  system.out(text);
  return 0;
}

int run_explain(System& system, const DiagnoseOptions& options) {
  const auto set = read_signatures(system, options.signatures);
  const Signature* signature = find_signature(*set, options.explain);
  if (signature == nullptr) {
    std::vector<std::string> ids;
    for (const Signature& known : set->signatures) ids.push_back(known.id);
    const auto near = closest_match(options.explain, ids);
    throw Error(ErrorKind::usage, {fmt::format("unknown signature '{}'", printable(options.explain, 40)),
                                   "--explain", near ? "--explain " + *near : "ddlrun diagnose --list"});
  }
  system.out(options.json ? diagnose::render_signatures_json({signature})
                          : diagnose::render_signature(*signature));
  return 0;
}

int run_diagnose(System& system, const DiagnoseOptions& options) {
  if (options.list) return run_list(system, options);
  if (!options.explain.empty()) return run_explain(system, options);
  return run_on_logs(system, options);
}

}  // namespace

Subcommand diagnose_command() {
  Subcommand command;
  command.name = "diagnose";
  command.summary = "find the first cause of a failed run in its logs";
  command.examples = R"(  ddlrun diagnose job.log
  mpirun ... 2>&1 | tee job.log | ddlrun diagnose
  ddlrun diagnose out/1/rank.*/stderr --status 137 --from mpirun
  ddlrun diagnose 1234                  # the log of a job; or a run, by its id
  ddlrun diagnose last                  # the newest job or run
  ddlrun diagnose RUNDIR                # the directory of a run or of a job
  ddlrun diagnose --explain B1)";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<DiagnoseOptions>();
    app.add_option("LOG", options->logs,
                   "logs of one run; - or no LOG: standard input; the directory or the id of a run or a job; "
                   "last: the newest")
        ->type_name("");
    app.add_option("--status", options->status, "exit status of the run; 0 means success")
        ->type_name("N")
        ->group("Run");
    app.add_option("--from", options->from, "program that reported the exit status: mpirun, pbs or slurm")
        ->type_name("PROGRAM")
        ->group("Run");
    app.add_flag("--json", options->json, "print one JSON document")->group("Output");
    app.add_option("--signatures", options->signatures, "add the signatures of FILE; known ids are replaced")
        ->type_name("FILE")
        ->group("Signatures");
    app.add_flag("--list", options->list, "list all signatures, one a line")->group("Signatures");
    app.add_option("--explain", options->explain, "explain one signature")
        ->type_name("ID")
        ->group("Signatures");
    return [options](System& system) { return run_diagnose(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
