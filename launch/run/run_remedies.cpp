// SPDX-License-Identifier: MIT
#include "launch/run/run_remedies.hpp"

#include "base/text/host_list.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/remedy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::launch {

namespace {

using diagnose::comment_mark;
using diagnose::replace_text;

constexpr std::size_t most_named_hosts = 32;

// Commands and options of schedulers. Outside a job they are no remedy.
constexpr std::string_view scheduler_words[] = {
    "srun",    "sbatch", "salloc", "squeue", "sacct", "sacctmgr", "scontrol",   "sinfo",
    "scancel", "qsub",   "qstat",  "qdel",   "qmod",  "pbsnodes", "bsub",       "jsrun",
    "aprun",   "PBS",    "Slurm",  "munge",  "--mem", "--gres",   "--exclusive"};
constexpr std::string_view scheduler_texts[] = {"slurm",   "SLURM_",     "SBATCH",      "PBS_",
                                                "pbs_mom", "--gpus-per", "--ntasks",    "--container-mounts",
                                                "-l mem",  "-l select",  "-l walltime", "ask the scheduler"};

bool has_scheduler_word(std::string_view text) {
  for (const std::string_view word : scheduler_words) {
    // "--mem-bind" is an option of launch.
    const std::size_t at = find_word(text, word);
    const std::size_t end = at + word.size();
    if (at != std::string_view::npos && (end == text.size() || text[end] != '-')) return true;
  }
  return std::ranges::any_of(scheduler_texts,
                             [&](std::string_view part) { return text.find(part) != text.npos; });
}

// "more memory from the scheduler (--mem, -l mem=), fewer ranks" -> "more memory, fewer ranks"
std::string drop_scheduler_remarks(std::string text) {
  text = replace_text(std::move(text), " from the scheduler", "");
  for (std::size_t open = text.find(" ("); open != std::string::npos; open = text.find(" (", open + 1)) {
    const std::size_t close = text.find(')', open);
    if (close == std::string::npos) break;
    if (has_scheduler_word(std::string_view(text).substr(open, close - open)))
      text.erase(open, close + 1 - open);
  }
  return text;
}

// Of "a; b" what has no word of a scheduler. A loop or quoted text is kept or dropped as a whole.
std::string drop_scheduler_parts(const std::string& text) {
  if (!has_scheduler_word(text)) return text;
  std::vector<std::string> kept = diagnose::split_commands(text);
  std::erase_if(kept, has_scheduler_word);
  return diagnose::join_commands(kept);
}

// "mpirun --mca btl tcp,self ..." as a variable, which Open MPI reads under srun too.
std::string mca_as_variables(std::string command) {
  constexpr std::string_view lead = "mpirun --mca ";
  if (!command.starts_with(lead)) return command;
  std::vector<std::string_view> words = split(std::string_view(command).substr(7), ' ');
  std::string changed = "ddlrun launch";
  std::size_t next = 0;
  for (; next + 2 < words.size() && words[next] == "--mca"; next += 3)
    changed += fmt::format(" -x OMPI_MCA_{}={}", words[next + 1], words[next + 2]);
  for (; next < words.size(); ++next) changed += fmt::format(" {}", words[next]);
  return changed;
}

// "mpirun -n 1 -H h2 COMMAND" by this launcher.
std::string run_on_host(const std::string& command, LauncherKind launcher) {
  constexpr std::string_view lead = "mpirun -n 1 -H ";
  if (!command.starts_with(lead)) return command;
  const std::string_view rest = std::string_view(command).substr(lead.size());
  const std::string_view host = rest.substr(0, rest.find(' '));
  const std::string_view program = trim(rest.substr(host.size()));
  return launcher == LauncherKind::srun ? fmt::format("srun -n 1 -w {} {}", host, program)
                                        : fmt::format("ssh {} {}", host, quote_shell(program));
}

// "" if the command is for mpirun only.
std::string fit_command(std::string command, LauncherKind launcher) {
  command = run_on_host(command, launcher);
  if (launcher == LauncherKind::srun) command = mca_as_variables(std::move(command));
  command = replace_text(std::move(command), "mpirun -x ", "ddlrun launch -x ");
  command = replace_text(std::move(command), "mpirun ...", "ddlrun launch ...");
  const bool is_foreign = find_word(command, "mpirun") != std::string::npos ||
                          command.find("--mca") != std::string::npos ||
                          command.find("opal_") != std::string::npos;
  return is_foreign ? std::string() : command;
}

std::string name_hosts(std::string text, const RemedyContext& context) {
  const auto& hosts = context.hosts;
  if (hosts.empty() || hosts.size() > most_named_hosts) return text;
  const std::string host = is_host_name(context.failed_host) ? context.failed_host
                           : hosts.size() == 1               ? hosts.front()
                                                             : std::string();
  std::vector<std::string> quoted;
  for (const std::string& one : hosts) quoted.push_back(quote_shell(one));
  text = replace_text(std::move(text), "in HOSTS;", fmt::format("in {};", join(quoted, " ")));
  text = replace_word(std::move(text), "HOSTS", quote_shell(fold_host_list(hosts)));
  if (!host.empty()) return replace_word(std::move(text), "HOST", quote_shell(host));
  text = replace_text(std::move(text), "on HOST", "on each host");
  if (!text.starts_with("ssh HOST ")) return text;
  return fmt::format("for h in {}; do ssh $h {}; done", join(quoted, " "), text.substr(9));
}

bool is_of_srun(std::string_view text) {
  return find_word(text, "srun") != std::string_view::npos || text.find("SLURM_") != std::string_view::npos;
}

// launch refuses a program that starts ranks itself, and sets the variables of torch.distributed itself.
bool is_of_torchrun(std::string_view command) {
  return starts_with_any(command, {"torchrun ", "export RANK="});
}

std::string fit_remedy(const std::string& remedy, const RemedyContext& context) {
  if (is_of_torchrun(remedy)) return {};
  if (!context.in_job && find_word(remedy, "JOB") != std::string::npos) return {};
  const std::size_t mark = remedy.find(comment_mark);
  std::string command = remedy.substr(0, mark);
  std::string comment = mark == std::string::npos ? std::string() : remedy.substr(mark + comment_mark.size());
  const bool has_scheduler = context.in_job || context.launcher == LauncherKind::srun;
  if (context.in_job && context.launcher == LauncherKind::ssh && is_of_srun(remedy)) return {};
  if (!has_scheduler) {
    if (is_of_srun(comment)) return {};  // the condition: "under srun"
    command = drop_scheduler_parts(drop_scheduler_remarks(std::move(command)));
    comment = drop_scheduler_parts(drop_scheduler_remarks(std::move(comment)));
    if (command.empty()) return {};
  }
  if (context.launcher != LauncherKind::open_mpi) {
    // A remedy whose condition is a symbol of Open MPI is for its mpirun too.
    if (comment.find("opal_") != std::string::npos && context.launcher != LauncherKind::srun) return {};
    command = fit_command(std::move(command), context.launcher);
    if (command.empty()) return {};
    if (find_word(comment, "mpirun") != std::string::npos) comment.clear();
  }
  // PyTorch's default port, which the remedies name.
  if (!context.master_port.empty()) command = replace_word(std::move(command), "29500", context.master_port);
  command = name_hosts(std::move(command), context);
  return comment.empty() ? command
                         : command + std::string(comment_mark) + name_hosts(std::move(comment), context);
}

}  // namespace

// Each other framework starts its own collectives, which mpi4py does not end.
std::string remedy_for_exception(const std::vector<std::string>& program, frameworks::Framework framework) {
  const auto script = find_script(program);
  const bool is_started = script.value_or(0) > 0 && is_python(program.front());
  if (!is_started || framework != frameworks::Framework::none) return {};
  if (std::ranges::find(program, "mpi4py") != program.end()) return {};
  std::vector<std::string> words = program;
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(*script), {"-m", "mpi4py"});
  return "ddlrun launch ... -- " + render_shell(words) +
         "   # with mpi4py: an exception of one rank then ends all ranks";
}

diagnose::JobContext job_context(const Environment& environment) {
  diagnose::JobContext job;
  const std::string slurm = environment.get("SLURM_JOB_ID"), pbs = environment.get("PBS_JOBID");
  if (slurm.empty() != pbs.empty())
    job.scheduler = pbs.empty() ? diagnose::LogSource::slurm : diagnose::LogSource::pbs;
  job.id = pbs.empty() ? slurm : pbs;
  if (const std::string submitted = environment.get("DDLRUN_JOB_ID"); !submitted.empty()) {
    job.id = submitted;
    job.submit = "ddlrun submit";
  }
  return job;
}

std::vector<std::string> fit_remedies(const std::vector<std::string>& remedies,
                                      const RemedyContext& context) {
  std::vector<std::string> fitted;
  for (const std::string& remedy : remedies) {
    if (std::string text = fit_remedy(remedy, context); !text.empty()) fitted.push_back(std::move(text));
  }
  if (fitted.empty() && !remedies.empty())
    fitted.push_back("ddlrun doctor " + quote_shell(fold_host_list(context.hosts)));
  return fitted;
}

}  // namespace ddlrun::launch
