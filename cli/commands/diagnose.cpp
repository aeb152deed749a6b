// SPDX-License-Identifier: MIT
#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/diagnose_input.hpp"
#include "cli/option_values.hpp"
#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/site/site_signatures.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <utility>

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

constexpr std::string_view how_to_log = "mpirun --tag-output ... 2>&1 | tee job.log";

std::shared_ptr<const SignatureSet> read_signatures(System& system, const std::string& file) {
  auto known = diagnose::read_known_signatures(system);
  if (file.empty()) return known;
  std::vector<Message> warnings;
  SignatureSet own =
      diagnose::parse_signatures(system.files.read(file, diagnose::max_signature_bytes), file, &warnings);
  for (const Message& message : warnings) system.err(render_message("ddlrun", "warning", message));
  return std::make_shared<const SignatureSet>(diagnose::merge_signatures(*known, std::move(own)));
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

// A named pipe has no end while nothing writes to it, and a device perhaps none. The shell's own pipes,
// <(COMMAND), are below /dev/fd.
void refuse_endless(const System& system, const std::string& log) {
  if (log == "-" || log == "/dev/stdin" || log.starts_with("/dev/fd/") || log.starts_with("/proc/self/fd/") ||
      system.kernel == nullptr)
    return;
  const auto info = system.kernel->file_info(system.environment.absolute(log), true);
  if (!info || info->kind == FileInfo::Kind::file || info->kind == FileInfo::Kind::directory) return;
  throw Error(ErrorKind::request, {"it is a pipe or a device, which may never end, and no log file",
                                   printable(log), "cat " + quote_shell(log) + " | ddlrun diagnose -"});
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

DiagnoseInput read_input(System& system, const DiagnoseOptions& options) {
  const RunStatus end = parse_run_status(options);
  DiagnoseInput input{input_logs(system, options), end, {}, {}, {}, {}};
  if (input.logs.size() != 1) return input;
  const std::string& word = input.logs[0];
  if (word == "last") return read_job_or_run(system, word, end);
  if (system.files.exists(word + "/run.json")) return read_run_directory(system, word, end);
  if (word != "-" && word.find('/') == std::string::npos && !system.files.exists(word))
    return read_job_or_run(system, word, end);
  if (schedulers::JobRef job; system.files.exists(word + "/output.log")) {  // a job's directory
    job.dir = word;
    job.output = word + "/output.log";
    if (!end.status) input.end.status = schedulers::read_exit_status(system, job);
    input.logs = {job.output};
    if (system.files.exists(job.files().spool())) input.logs.push_back(job.files().spool());
    input.submitted = std::move(job);
  }
  return input;
}

void take_lines(diagnose::LogAnalysis& analysis, const std::string& source,
                const std::vector<std::string>& lines) {
  analysis.begin_source(source);
  for (const std::string& line : lines) analysis.take(line + "\n");
  analysis.end_source();
}

int print_recorded(System& system, const DiagnoseInput& input) {
  system.err("ddlrun: as launch found it, in " + input.recorded_in + ":\n");
  system.out(coloured_report(system.environment, input.recorded));
  return 1;
}

void print_standing(System& system, const launch::StandingRun& run) {
  const Message& message = run.standstill.message;
  system.out(fmt::format("run {} is still running, without progress: {}\n  at:  {}\n  try: {}\n", run.id,
                         message.what, message.where, message.hint));
}

// The text that `history` prints for such a run, with what may have ended ddlrun.
void print_unseen(System& system, const DiagnoseInput& input) {
  const std::string directory = quote_shell(input.directory);
  system.out(fmt::format(
      "run {} ended unseen: {}\n  at:  {}\n  try: dmesg -T | grep -i 'killed process'; last -x reboot | head "
      "-3; df -h {}\n",
      input.unseen_run, launch::unseen_end, printable(input.directory), directory));
}

int run_on_logs(System& system, const DiagnoseOptions& options) {
  const DiagnoseInput input = read_input(system, options);
  const bool wants_recorded =
      !input.recorded.empty() && !options.json && options.signatures.empty() && options.status.empty();
  // launch does not read what the ranks print on stdout, as gdb does.
  const bool may_find_more = !input.cause_is_recorded && !input.logs.empty();
  if (wants_recorded && !may_find_more) return print_recorded(system, input);
  const RunStatus& end = input.end;
  const std::vector<std::string>& logs = input.logs;
  auto signatures = read_signatures(system, options.signatures);
  if (input.submitted)
    signatures = schedulers::fit_signatures(system, *input.submitted, std::move(signatures));
  diagnose::LogAnalysis analysis(std::move(signatures));
  std::size_t read_count = 0;
  for (const std::string& log : logs) refuse_endless(system, log);
  for (const std::string& log : logs) read_count += take_log(system, analysis, log, logs.size() == 1) ? 1 : 0;
  if (input.standing) {
    const launch::Standstill& standstill = input.standing->standstill;
    analysis.begin_source("launch");
    analysis.take(render_message("ddlrun", standstill.severity, standstill.message));
    analysis.end_source();
  }
  if (logs.empty()) {
    take_lines(analysis, "stderr", input.last_lines);
  } else if (read_count == 0 && !input.standing)
    throw Error(ErrorKind::request, {fmt::format("all {} logs are binary files", logs.size()),
                                     printable(logs[0]), "file " + quote_shell(logs[0])});
  if (!input.stall_lines.empty()) take_lines(analysis, record_of(input), input.stall_lines);
  const diagnose::Diagnosis diagnosis = complete_diagnosis(system, input, analysis.diagnosis(end));
  if (wants_recorded && !diagnose::is_sure(diagnosis)) return print_recorded(system, input);
  const bool is_silent = diagnosis.bytes == 0 && !end.status && !diagnosis.cause;
  if (!input.unseen_run.empty() && !options.json) {
    print_unseen(system, input);
    if (!diagnosis.cause) return 1;
  }
  if (logs.empty() && is_silent)
    throw Error(ErrorKind::request,
                {"the run has not ended, and its output is not in files", printable(input.directory),
                 "ddlrun launch --tee ...   # keeps each rank's output in the run directory"});
  if (is_silent) {
    const Message message{
        logs.size() == 1 ? "the log is empty" : fmt::format("all {} logs are empty", logs.size()),
        printable(logs[0]),
        std::string(how_to_log) + "; of a status alone: ddlrun diagnose --status N --from mpirun"};
    if (options.json) system.out(diagnose::render_diagnosis_json(diagnosis, &message));
    throw Error(ErrorKind::request, message);
  }
  if (input.standing && !options.json) print_standing(system, *input.standing);
  system.out(options.json ? diagnose::render_diagnosis_json(diagnosis)
                          : coloured_report(system.environment, diagnose::render_diagnosis(diagnosis)));
  return diagnose::exit_code(diagnosis);
}

int run_list(System& system, const DiagnoseOptions& options) {
  for (const std::string& file : diagnose::list_signature_files(system))
    system.err(fmt::format("ddlrun: signatures: {}\n", printable(file, 400)));
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
  ddlrun diagnose last                  # the newest job or run; of a run in a job: the job
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
