// SPDX-License-Identifier: MIT
// The body of a PBS script under Slurm.
#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

const std::map<std::string, std::string>& slurm_names() {
  static const std::map<std::string, std::string> all = {
      {"PBS_JOBID", "SLURM_JOB_ID"},
      {"PBS_O_WORKDIR", "SLURM_SUBMIT_DIR"},
      {"PBS_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"},
      {"PBS_ARRAYID", "SLURM_ARRAY_TASK_ID"},
      {"PBS_ARRAY_ID", "SLURM_ARRAY_JOB_ID"},
      {"PBS_JOBNAME", "SLURM_JOB_NAME"},
      {"PBS_QUEUE", "SLURM_JOB_PARTITION"},
      {"PBS_O_QUEUE", "SLURM_JOB_PARTITION"},
      {"PBS_O_HOST", "SLURM_SUBMIT_HOST"},
      {"PBS_NODENUM", "SLURM_NODEID"},
      {"PBS_NUM_NODES", "SLURM_JOB_NUM_NODES"},
      {"PBS_NUM_PPN", "SLURM_NTASKS_PER_NODE"},
      {"PBS_NP", "SLURM_NTASKS"},
      {"PBS_TASKNUM", "SLURM_PROCID"},
      {"PBS_O_HOME", "HOME"},
      {"PBS_O_LOGNAME", "USER"},
      {"PBS_O_PATH", "PATH"},
      {"PBS_O_SHELL", "SHELL"},
  };
  return all;
}

bool is_mpirun(const std::string& name) {
  return name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "mpiexec.hydra" ||
         name == "prterun";
}

bool is_hostfile_option(const std::string& word) {
  return word == "--hostfile" || word == "-hostfile" || word == "-machinefile" || word == "--machinefile" ||
         word == "-f";
}

// Intel MPI's and MPICH's mpirun: -f, -ppn and their like are no options of Open MPI's.
bool is_hydra(const ShellCommand& command) {
  const auto words = intel_options(command);
  return command.base_name() == "mpiexec.hydra" ||
         std::any_of(words.begin(), words.end(), [](const ShellWord& word) { return word.text != "-l"; }) ||
         std::any_of(command.words.begin(), command.words.end(),
                     [](const ShellWord& word) { return word.text == "-f"; });
}

// True where hosts have different numbers of ranks, which one Slurm request cannot express.
bool differs_by_host(const ResourceRequest& request) {
  return request.spread != Spread::pack && has_unlike_chunks(request);
}

constexpr std::string_view why_hydra =
    "kept: the mpirun of Intel MPI or MPICH reads it; the script makes a node file as PBS does, each host "
    "once "
    "per rank (I_MPI_HYDRA_BOOTSTRAP=slurm starts the ranks without ssh)";
// Under Slurm, Open MPI 4.1 takes no count from a host that stands there several times.
constexpr std::string_view why_slots =
    "kept, as HOST slots=N: Open MPI under Slurm needs it for the ranks of each host";

// "--hostfile $PBS_NODEFILE": Open MPI gets the hosts from Slurm itself.
void drop_hostfiles(const ScriptLine& line, const ShellCommand& command, const ResourceRequest& request,
                    BodyChange& change) {
  const bool hydra = is_hydra(command), slots = !hydra && differs_by_host(request);
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    const bool apart = is_hostfile_option(word.text) && i + 1 < command.words.size() &&
                       command.words[i + 1].text.find("PBS_NODEFILE") != std::string::npos;
    const bool joined = (word.text.starts_with("--hostfile=") || word.text.starts_with("--machinefile=")) &&
                        word.text.find("PBS_NODEFILE") != std::string::npos;
    if (!apart && !joined) continue;
    if (slots) {
      const ShellWord& file = command.words[i + (apart ? 1 : 0)];
      const std::string option = apart ? "" : file.text.substr(0, file.text.find('=') + 1);
      change.edits.push_back(edit_at(line, file.at, file.end - file.at, option + "\"$PBS_NODEFILE.slots\""));
    }
    if (hydra || slots) {
      change.unsupported.push_back({place_in(line, word.at).line, word.text + " $PBS_NODEFILE",
                                    std::string(hydra ? why_hydra : why_slots)});
      continue;
    }
    for (std::size_t k = i; k <= i + (apart ? 1u : 0u); ++k) {
      const ShellWord& gone = command.words[k];
      const bool blank = gone.end < line.text.size() && line.text[gone.end] == ' ' &&
                         place_in(line, gone.end).line == place_in(line, gone.at).line;
      change.edits.push_back(edit_at(line, gone.at, gone.end - gone.at + (blank ? 1 : 0), ""));
    }
    change.unsupported.push_back(
        {place_in(line, word.at).line, word.text + " $PBS_NODEFILE",
         "dropped: Open MPI takes the hosts from Slurm (if yours was built without Slurm, put "
         "--hostfile \"$PBS_NODEFILE\" back)"});
  }
}

void report_pbs_command(const ShellCommand& command, int number, BodyChange& change) {
  static const std::map<std::string, const char*> counterparts = {{"qsub", "sbatch"},
                                                                  {"qstat", "squeue"},
                                                                  {"qdel", "scancel"},
                                                                  {"qalter", "scontrol update"},
                                                                  {"qhold", "scontrol hold"},
                                                                  {"qrls", "scontrol release"},
                                                                  {"qrerun", "scontrol requeue"},
                                                                  {"pbsdsh", "srun --ntasks-per-node=1"},
                                                                  {"pbs_tmrsh", "srun -N1 -w HOST"},
                                                                  {"pbsnodes", "sinfo"},
                                                                  {"aprun", "srun"}};
  const auto found = counterparts.find(command.base_name());
  if (found == counterparts.end()) return;
  change.unsupported.push_back({number, command.base_name(),
                                fmt::format("a command of PBS that Slurm does not have: {}", found->second)});
}

// Another script that is handed the node file may start its ranks through ssh: it is left alone.
void report_hostfile_users(const ScriptLine& line, const ShellCommand& command, BodyChange& change) {
  for (const ShellWord& word : command.words) {
    if (word.text.find("PBS_NODEFILE") == std::string::npos || word.at == command.words.front().at) continue;
    change.unsupported.push_back({place_in(line, word.at).line, command.base_name() + " ... $PBS_NODEFILE",
                                  "kept: the script makes a node file as PBS does, each host once per rank"});
    return;
  }
}

bool has_place_of_its_own(const JobScript& script) {
  for (const ScriptLine& line : script.body) {
    for (const ShellCommand& command : parse_commands(line)) {
      if (command.name() != "cd" && command.name() != "pushd") continue;
      if (command.words.size() < 2) return true;
      const std::string& to = command.words[1].text;
      if (to.starts_with('/') || to.starts_with('~') || to.starts_with('$')) return true;
    }
  }
  return false;
}

bool uses(const JobScript& script, std::string_view name) {
  for (const ScriptLine& line : script.body)
    for (const VariableUse& use : find_variables(line))
      if (use.name == name) return true;
  return false;
}

// The node file is needed if anything but a dropped --hostfile names it.
bool still_uses_node_file(const JobScript& script, const ResourceRequest& request) {
  for (const ScriptLine& line : script.body) {
    const auto commands = parse_commands(line);
    std::size_t named = 0, dropped = 0;
    for (const VariableUse& use : find_variables(line)) named += use.name == "PBS_NODEFILE" ? 1 : 0;
    for (const ShellCommand& command : commands) {
      if (!is_mpirun(command.base_name()) || is_hydra(command) || differs_by_host(request)) continue;
      BodyChange change;
      drop_hostfiles(line, command, request, change);
      dropped += change.unsupported.size();
    }
    if (named > dropped) return true;
  }
  return false;
}

// What OpenPBS would have put into the job's environment by itself; Torque, whose form "nodes=" is, does not.
std::uint64_t threads_set_by_pbs(const ResourceRequest& request) {
  if (request.chunks.empty() || request.torque || request.style == Style::old_nodes) return 0;
  const Chunk& chunk = request.chunks.front();
  return chunk.threads > 0 ? chunk.threads : chunk.cores;
}

// The lines that make PBS's node file: each host once per rank, chunk by chunk.
std::string render_node_file(const ResourceRequest& request) {
  std::string ranks;
  if (request.spread == Spread::pack) {
    ranks = fmt::format("{}", task_count(request));
  } else {
    std::uint64_t nodes = 0;
    for (std::size_t i = 0; i < request.chunks.size(); ++i) {
      const Chunk& chunk = request.chunks[i];
      nodes += chunk.nodes;
      const bool last = i + 1 == request.chunks.size() || !has_unlike_chunks(request);
      ranks += last ? fmt::format("{}", std::max<std::uint64_t>(1, chunk.tasks))
                    : fmt::format("NR <= {} ? {} : ", nodes, std::max<std::uint64_t>(1, chunk.tasks));
      if (last) break;
    }
    if (ranks.empty()) ranks = "1";
  }
  const bool plain = ranks.find(' ') == std::string::npos;
  return fmt::format(
      "scontrol show hostnames \"$SLURM_JOB_NODELIST\" |\n"
      "  awk '{{ {}for (i = 0; i < {}; i++) print }}' >\"$PBS_NODEFILE\"",
      plain ? "" : fmt::format("n = {}; ", ranks), plain ? ranks : "n");
}

}  // namespace

BodyChange change_body_to_slurm(const JobScript& script, const ResourceRequest& request) {
  BodyChange change;
  for (const ScriptLine& line : script.body) {
    for (const ShellCommand& command : parse_commands(line)) {
      if (is_mpirun(command.base_name())) {
        drop_hostfiles(line, command, request, change);
      } else {
        report_hostfile_users(line, command, change);
      }
      const int number = command.words.empty() ? line.line : place_in(line, command.words.front().at).line;
      report_pbs_command(command, number, change);
      for (const ShellCommand& inner : nested_commands(command)) report_pbs_command(inner, number, change);
    }
  }
  rename_variables(script, slurm_names(), "PBS_", change);
  mend_damage(script, change);
  change.kept_names.erase("PBS_NODEFILE");
  for (const std::string& name : change.kept_names)
    change.unsupported.push_back({0, "$" + name, "a variable of PBS that Slurm does not set"});
  return change;
}

std::vector<std::string> prepare_for_slurm(const JobScript& script, const ResourceRequest& request,
                                           const BodyChange&) {
  std::vector<std::string> lines;
  const std::uint64_t threads = threads_set_by_pbs(request);
  const std::uint64_t tasks =
      request.chunks.empty() ? 1 : std::max<std::uint64_t>(1, request.chunks.front().tasks);
  if (request.dir.empty() && !has_place_of_its_own(script)) {
    lines.emplace_back("# PBS starts a job in the home directory, Slurm where it was submitted.");
    lines.emplace_back("cd \"$HOME\" || exit");
  }
  if (!script.exports.contains("OMP_NUM_THREADS") && threads > 0) {
    const bool is_fixed = request.chunks.front().threads > 0 || tasks == 1;
    lines.emplace_back("# OpenPBS sets this by itself.");
    lines.push_back(is_fixed ? fmt::format("export OMP_NUM_THREADS={}", threads)
                             : "export OMP_NUM_THREADS=\"${SLURM_CPUS_PER_TASK:-1}\"");
  }
  if (uses(script, "NCPUS") && threads > 0) lines.push_back(fmt::format("export NCPUS={}", threads));
  for (const auto& [name, value] : request.assigned)
    lines.push_back(fmt::format("export {}={}", name, quote_shell(value)));
  if (still_uses_node_file(script, request)) {
    lines.emplace_back("# The node file that PBS would have made: each host once per rank.");
    lines.emplace_back("PBS_NODEFILE=$(mktemp \"${TMPDIR:-/tmp}/nodefile.XXXXXX\") || exit");
    lines.emplace_back("export PBS_NODEFILE");
    lines.push_back(render_node_file(request));
    if (differs_by_host(request)) {
      lines.emplace_back("# The same for Open MPI, which needs the counts under Slurm.");
      lines.emplace_back(
          "uniq -c \"$PBS_NODEFILE\" | awk '{ print $2 \" slots=\" $1 }' >\"$PBS_NODEFILE.slots\"");
    }
  }
  return lines;
}

}  // namespace ddlrun::job_scripts
