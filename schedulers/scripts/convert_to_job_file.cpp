// SPDX-License-Identifier: MIT
#include "schedulers/scripts/convert_to_job_file.hpp"

#include "base/text/error.hpp"
#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/compound_commands.hpp"
#include "schedulers/scripts/convert.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/job_file_losses.hpp"
#include "schedulers/scripts/job_file_program.hpp"
#include "schedulers/scripts/job_file_program_words.hpp"
#include "schedulers/scripts/job_file_request.hpp"
#include "schedulers/scripts/job_file_signal.hpp"
#include "schedulers/scripts/job_file_variables.hpp"
#include "schedulers/scripts/job_file_words.hpp"
#include "schedulers/scripts/launch_step.hpp"
#include "schedulers/scripts/rank_variables.hpp"
#include "schedulers/scripts/torch_start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

using schedulers::flag_setting;
using schedulers::list_setting;

class JobFileWriter {
 public:
  JobFileWriter(const JobScript& script, const templates::SiteProfile* site, const UnwrapLauncher& unwrap,
                const SortLauncherOptions& sort_options)
      : script_(script),
        site_(site),
        unwrap_(unwrap),
        sort_options_(sort_options),
        request_(read_request(with_step_requests(script, file_.unsupported))),
        variables_(starts_ranks(script, unwrap), file_.unsupported, setup_) {}

  JobFile write() {
    const std::string own = script_.dialect == Dialect::slurm ? "slurm" : request_.torque ? "torque" : "pbs";
    set("scheduler", site_ == nullptr || site_->scheduler.empty() ? own : site_->scheduler);
    if (site_ != nullptr) set("site", site_->name);
    write_body();  // before the shape: its launcher may name the ranks
    write_shape();
    write_request(script_, request_, signal_, site_, file_);
    write_exports();
    report(signal_.notes);
    report_foreign_variables();
    std::ranges::stable_sort(file_.unsupported, {},
                             [](const Unsupported& item) { return item.line == 0 ? INT32_MAX : item.line; });
    return std::move(file_);
  }

 private:
  void set(const std::string& key, const std::string& text) {
    if (!text.empty()) file_.settings[key] = flag_setting("", text, key);
  }
  void set_list(const std::string& key, const std::vector<std::string>& words) {
    if (!words.empty()) file_.settings[key] = list_setting(words, key);
  }
  void leave(int line, std::string text, std::string why, bool wrong = false) {
    file_.unsupported.push_back({line, std::move(text), std::move(why), wrong});
  }

  void report(const std::vector<Unsupported>& items) {
    file_.unsupported.insert(file_.unsupported.end(), items.begin(), items.end());
  }

  // Where the site has another scheduler than the script: its variables are not set there.
  void report_foreign_variables() {
    const bool slurm = script_.dialect == Dialect::slurm;
    const std::string to = site_ == nullptr ? "" : site_->scheduler;
    if (to.empty() || slurm == (to == "slurm")) return;
    for (const ScriptLine& line : script_.body) {
      const bool kept = line.line == program_line_ || std::ranges::find(setup_, line.text) != setup_.end();
      for (const VariableUse& use : find_variables(line))
        if (kept && use.name.starts_with(slurm ? "SLURM_" : "PBS_"))
          leave(line.line, "$" + use.name, "not set under the scheduler of the site: " + to, true);
    }
  }

  void write_shape() {
    const Chunk chunk = request_.chunks.empty() ? Chunk() : request_.chunks.front();
    if (has_unlike_chunks(request_))
      leave(request_.select_line, "chunks that differ",
            "a job file has nodes of one kind: those of the first chunk are taken", true);
    const std::uint64_t nodes = std::max<std::uint64_t>(1, node_count(request_));
    std::uint64_t ranks = processes_ > 0 ? processes_ : chunk.tasks;
    if (ranks == 0 && request_.total_tasks > 0) {
      ranks = std::max<std::uint64_t>(1, request_.total_tasks / nodes);
      if (request_.total_tasks % nodes != 0 || node_count(request_) == 0)
        leave(request_.select_line, fmt::format("{} tasks", request_.total_tasks),
              fmt::format("the number of nodes is not given: {} on each of {}", ranks, nodes), true);
    }
    if (ranks == 0 && step_.all_tasks() % nodes == 0) ranks = step_.all_tasks() / nodes;
    if (ranks == 0) {
      ranks = 1;
      leave(request_.select_line, "ranks of each node", "not given: 1", true);
    }
    report_other_ranks(processes_ > 0 ? step_.all_tasks() : ranks * nodes);
    set("dims", fmt::format("{}x{}", ranks, nodes));
    report_placement(ranks, nodes);
    if (chunk.cores > 0) set("cores_per_node", std::to_string(std::max(chunk.cores, processes_)));
    if (chunk.cores > 0 && processes_ > chunk.cores)
      leave(request_.select_line,
            fmt::format("{} core{} on each node", chunk.cores, chunk.cores == 1 ? "" : "s"),
            fmt::format("too few for {0} processes of torchrun: cores_per_node: {0}", processes_));
    // The cores of torchrun's one task are those of all its processes.
    std::uint64_t& threads = variables_.threads;
    if (chunk.threads > 0 && threads == 0 && processes_ == 0) threads = chunk.threads;
    if (threads > 0) set("threads", std::to_string(threads));
    std::uint64_t gpus = chunk.gpus;
    if (gpus == 0 && request_.total_gpus > 0) gpus = std::max<std::uint64_t>(1, request_.total_gpus / nodes);
    if (gpus > 0) set("gpus", std::to_string(gpus));
    set("gpu_type", chunk.gpu_type);
    const std::uint64_t memory = memory_of_node(request_, chunk, ranks);
    if (memory > 0) set("memory", memory_text(memory));
    set("exclusive", request_.exclusive ? "yes" : "no");
    set("constraint", constraint_of(request_, chunk));
    set("hosts", hosts_of(request_));
  }

  // Where the ranks were, as far as the new job has them elsewhere.
  void report_placement(std::uint64_t ranks, std::uint64_t nodes) {
    if (nodes < 2) return;
    if (script_.dialect == Dialect::pbs && request_.style == Style::select &&
        request_.spread == Spread::unspecified)
      leave(request_.select_line, "no -l place=scatter",
            fmt::format("PBS may have put several chunks on one host; dims puts the {0} chunks on {0} hosts",
                        nodes));
    if (!fills_hosts_ || ranks < 2 || processes_ > 0) return;
    set("order", "packed");
    leave(program_line_, step_.launcher,
          fmt::format("ranks 0-{} were on the first host: order: packed keeps that; by default neighbour "
                      "ranks of an MPI program are on different hosts",
                      ranks - 1));
  }

  // The launcher's own numbers, where the job has others.
  void report_other_ranks(std::uint64_t places) {
    const std::uint64_t ranks = step_.all_tasks();
    if (ranks > 0 && ranks != places)
      leave(program_line_, fmt::format("{}: {} ranks", step_.launcher, ranks),
            fmt::format("the job has {} places: dims has these", places), true);
    for (const StepExcess& excess : find_step_excess(step_, request_))
      leave(program_line_, "srun: " + excess.what, "the job lacks " + excess.directive, true);
    if (!step_.hosts.empty())
      leave(program_line_, "-H " + step_.hosts,
            "the ranks are on the hosts that the scheduler assigns; hosts: [NAME, ...] asks for these");
  }

  void write_exports() {
    variables_.place_thread_variables(file_.settings.contains("runner"));
    std::vector<std::string> environment = variables_.entries;
    for (const std::string_view item : split(request_.export_list, ','))
      if (!item.empty() && item != "ALL" && item != "NONE" && !is_rank_variable(item))
        environment.emplace_back(item);
    for (const auto& [name, value] : request_.assigned) environment.push_back(name + "=" + value);
    set_list("environment", environment);
    // As in a file, where a comma is part of a value.
    if (!environment.empty()) file_.settings["environment"].value.line = 1;
    set_list("modules", modules_);
    if (!modules_.empty() && !purges_) set("purge_modules", "no");  // submit purges unless the job says no
    if (!runs_all_) set_list("setup", setup_);
  }

  // Lines before the program are setup, but for those that a key expresses; what follows it is reported.
  void write_body() {
    for (const ScriptLine& line : script_.body) {
      const auto commands = line.here_text ? std::vector<ShellCommand>() : parse_commands(line);
      const std::size_t before = setup_.size();
      const bool was_open = open_.is_open();
      if (program_line_ == 0 && (take_program(line, commands) || take_own_program(line, commands))) {
        is_inside_ = was_open;
      } else if (program_line_ == 0) {
        const bool is_alone = commands.size() == 1 && !was_open;
        const bool is_carried = is_alone && signal_.trap_lines.contains(line.line);
        if (!is_carried && (!is_alone || !take_line(line, commands[0]))) setup_.push_back(line.text);
      } else if (!is_inside_) {
        report_tail(line, commands);
      }
      open_.take(line, commands);
      for (const ShellCommand& command : commands) variables_.rank_values.take(line, command);
      is_inside_ = is_inside_ && open_.is_open();
      if (!was_open) compound_begin_ = before;
    }
    if (variables_.sets_rendezvous && !file_.settings.contains("framework")) set("framework", "pytorch");
    if (program_line_ == 0 && !setup_.empty()) write_shell_program();
  }

  // No command is the program: the last line is, or a shell runs them all, once on the first host.
  void write_shell_program() {
    const ScriptLine& last = script_.body.back();
    const auto commands = parse_commands(last);
    const bool only_waits = is_end_of_script(commands), is_own = setup_.back() == last.text;
    set("runner", "none");
    if (commands.size() == 1 && !open_.is_open() && !commands[0].words.empty() && is_own && !only_waits) {
      setup_.pop_back();
      set_program(last, commands[0], 0);
      return;
    }
    set_list("program", {"bash", "-c", join(setup_, "\n")});
    runs_all_ = true;
    leave(last.line, last.text, "no command is the program: a shell runs them all, once on the first host");
    if (const std::size_t count = count_background(script_); count > 0 && only_waits && !commands.empty())
      leave(last.line, last.text,
            fmt::format("{} command{} run in the background, on the first host alone: array: 0-N starts a "
                        "task for each, and `signal` does not reach {}",
                        count, count == 1 ? "" : "s", count == 1 ? "it" : "them"),
            true);
  }

  // Where no launcher starts the program.
  bool take_own_program(const ScriptLine& line, const std::vector<ShellCommand>& commands) {
    if (!own_program_ || own_program_->line != line.line) return false;
    leave_surroundings(line, commands, own_program_->command);
    set("runner", "none");
    set_program(line, commands[own_program_->command], 0);
    return true;
  }

  // What only prints or waits is no loss of the job.
  void report_tail(const ScriptLine& line, const std::vector<ShellCommand>& commands) {
    if (is_end_of_script(commands) || signal_.trap_lines.contains(line.line)) return;
    const bool prints = only_prints(commands);
    constexpr std::size_t longest_shown = 100;
    const bool is_shown =
        commands.size() == 1 && commands[0].keywords.empty() && line.text.size() <= longest_shown;
    const std::string action = is_shown ? quote_shell(std::string(trim(line.text))) : "'...'";
    leave(line.line, line.text,
          "runs after the program: not carried over" +
              (prints ? "" : fmt::format("; trap {} EXIT, in setup, runs it at the end of the job", action)),
          !prints);
  }

  bool take_program(const ScriptLine& line, const std::vector<ShellCommand>& commands) {
    for (const ShellCommand& command : commands) {
      const Command words = command.texts();
      auto program = unwrap_(words);
      if (!program || program->empty()) continue;
      leave_surroundings(line, commands, static_cast<std::size_t>(&command - commands.data()));
      step_ = read_launch_step(command).value_or(LaunchStep());
      fills_hosts_ = !step_.launcher.empty() && fills_hosts(command);
      take_torchrun(line, step_.launcher.empty() ? words : *program, *program);
      const std::size_t tail = count_common_tail(words, *program);
      variables_.take_exports(line, command, words.size() - tail);
      set_program(line, command, words.size() - tail,
                  {program->begin(), program->end() - static_cast<std::ptrdiff_t>(tail)});
      leave(line.line, command.base_name(),
            "ddlrun starts and binds the ranks: its options for their places are left out");
      take_options(line.line, command.base_name(), words);
      return true;
    }
    return false;
  }

  void take_options(int line, const std::string& launcher, const Command& words) {
    const LauncherOptions options = sort_options_(words);
    for (const std::string& variable : options.variables) variables_.take(line, variable, variable);
    for (const std::string& option : options.left_out)
      leave(line, launcher + ": " + option, explain_left_out(option));
    for (const std::string& option : options.unknown)
      leave(line, launcher, fmt::format("option {} is not known: check program", option), true);
    for (const std::string& option : step_.unknown)
      leave(line, launcher + ": " + option, "left out: a job file has no key for it");
  }

  // Half of a loop is no setup: its lines in front of the program go, too.
  void leave_surroundings(const ScriptLine& line, const std::vector<ShellCommand>& commands, std::size_t at) {
    const auto around = open_.around(line, commands);
    if (open_.is_open()) setup_.resize(compound_begin_);
    if (around) leave(around->line, around->text, explain_compound(*around), true);
    for (Unsupported& loss : find_surroundings(line, commands, at, around.has_value()))
      file_.unsupported.push_back(std::move(loss));
  }

  // `program` becomes what torchrun starts, if `words` are torchrun's.
  void take_torchrun(const ScriptLine& line, const Command& words, Command& program) {
    const auto torch = read_torch_start(words, step_, request_, unwrap_);
    if (!torch) {
      if (mentions_torchrun(words))
        leave(line.line, "torchrun", "inside another command: replace it by the program, and set dims", true);
      return;
    }
    program = torch->program;
    processes_ = torch->processes;
    set("framework", "pytorch");
    if (!torch->dropped.empty())
      leave(line.line, join(torch->dropped, " "), "ddlrun gives each rank RANK, WORLD_SIZE and MASTER_ADDR");
    for (const std::string& what : torch->wrong) leave(line.line, "torchrun", what, true);
    for (const std::string& what : torch->notes) leave(line.line, "torchrun", what);
  }

  // `before`, then from word `first` on. Words with variables need a shell on each rank, where its own are
  // set.
  void set_program(const ScriptLine& line, const ShellCommand& command, std::size_t first,
                   Command before = {}) {
    program_line_ = line.line;
    if (!command.sets_variables())
      for (const ShellWord& word : command.assignments)
        variables_.take(line.line, word.text, line.text.substr(word.at, word.end - word.at));
    if (first >= command.words.size()) return;
    ProgramWords program = read_program_words(line, command, first, before, variables_.starts_ranks());
    std::erase_if(program.passed_on, [&](const std::string& name) {
      return variables_.leave_rank_value(line.line, "$" + name, name, "$" + name);
    });
    for (const std::string& name : program.passed_on) variables_.pass_on(name);
    if (!program.passed_on.empty())
      leave(line.line, "$" + join(program.passed_on, ", $"),
            "a shell on each rank replaces it there; `environment` passes it on");
    if (!program.renamed.empty())
      leave(line.line, "$" + join(program.renamed, ", $"), explain_renamed(program.renamed));
    for (const ShellWord& target : command.redirections)
      if (!parse_unsigned(target.text))  // "2>&1"
        leave(line.line, "> " + target.text, "the output goes to the job's log");
    set_list("program", program.words);
  }

  bool take_line(const ScriptLine& line, const ShellCommand& command) {
    if (!command.keywords.empty() || command.background || command.piped || !command.redirections.empty())
      return false;
    const std::string name = command.name();
    const auto& words = command.words;
    const bool plain = std::ranges::none_of(words, [](const ShellWord& word) {
      return word.text.find('$') != std::string::npos || word.text.find('`') != std::string::npos;
    });
    if (name == "cd" && words.size() == 2) {
      if (is_submit_directory(words[1].text)) return true;
      if (!plain || !words[1].text.starts_with('/')) return false;
      set("workdir", words[1].text);
      return true;
    }
    if (name == "module" || name == "ml") {
      const auto modules = modules_of(command);
      purges_ = purges_ || purges_modules(command);
      if (modules) modules_.insert(modules_.end(), modules->begin(), modules->end());
      return modules.has_value();
    }
    const auto python = plain ? python_environment_of(command) : std::nullopt;
    if (python) set(python->first, python->second);
    return python || take_assignments(line, command);
  }
  bool take_assignments(const ScriptLine& line, const ShellCommand& command) {
    const bool exported = command.name() == "export";
    if (!exported || command.assignments.empty() || command.words.size() > 1) return false;
    for (const ShellWord& word : command.assignments)
      variables_.take(line.line, word.text, line.text.substr(word.at, word.end - word.at));
    return true;
  }

  const JobScript& script_;
  const templates::SiteProfile* site_;
  const UnwrapLauncher& unwrap_;
  const SortLauncherOptions& sort_options_;
  JobFile file_;
  const ResourceRequest request_;
  const CarriedSignal signal_ = carry_signal(script_, request_);
  std::vector<std::string> modules_, setup_;
  bool purges_ = false;          // the script calls module purge
  LaunchStep step_;              // of the program
  bool fills_hosts_ = false;     // its launcher
  std::uint64_t processes_ = 0;  // of torchrun on each host; 0: another launcher
  int program_line_ = 0;
  bool runs_all_ = false;  // the setup lines are the program
  CompoundCommands open_;
  std::size_t compound_begin_ = 0;  // of the open one, in setup_
  bool is_inside_ = false;          // between the program and the end of what stands around it
  JobFileVariables variables_;
  const std::optional<OwnProgram> own_program_ =
      variables_.starts_ranks() ? std::nullopt : find_own_program(script_);
};

}  // namespace

JobFile convert_to_job_file(const JobScript& script, const templates::SiteProfile* site,
                            const UnwrapLauncher& unwrap, const SortLauncherOptions& sort_options) {
  refuse_own_script(script, "ddlrun submit --job DIR/ddlrun.yaml");
  if (script.dialect == Dialect::none)
    throw Error(ErrorKind::request, {"this file has no #PBS and no #SBATCH line", script.file,
                                     "ddlrun convert job.sh, with a script for PBS or Slurm"});
  return JobFileWriter(script, site, unwrap, sort_options).write();
}

}  // namespace ddlrun::job_scripts
