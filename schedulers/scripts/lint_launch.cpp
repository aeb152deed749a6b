// SPDX-License-Identifier: MIT
// The lines that start the ranks, against what was asked of the scheduler.
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/lint_internal.hpp"
#include "schedulers/scripts/torch_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::job_scripts {

namespace {

// Ranks per host of dims, and the number of hosts.
struct DimsShape {
  std::uint64_t per_host = 0, hosts = 1;
  std::uint64_t ranks() const { return per_host * hosts; }
};

class LaunchRules : private RuleSet {
 public:
  explicit LaunchRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check();

 private:
  void check_mpirun(const PlacedCommand& placed);
  void check_ranks(const PlacedCommand& placed, std::uint64_t ranks);
  void check_binding(const PlacedCommand& placed, std::uint64_t ranks);
  void check_rankfile(const PlacedCommand& placed, std::optional<std::uint64_t> ranks);
  void check_srun(const PlacedCommand& placed);
  void check_foreign(const PlacedCommand& placed);
  void check_export(const PlacedCommand& placed);
  void check_dims(const PlacedCommand& placed);
  void check_launch_dims(const PlacedCommand& placed, const ShellWord& word, const DimsShape& shape);
  void check_sequence();
  void check_devices();
  bool is_open_mpi(const ShellCommand& command) const {
    return intel_options(command).empty() && !loads_intel_mpi() && !loads("intel") && !loads("mpich") &&
           !sets_intel_mpi();
  }
  bool loads(std::string_view module) const;
  bool loads_intel_mpi() const {
    return loads("impi") || loads("intelmpi") || loads("intel-") || loads("intel-oneapi-");
  }
  // Variables that only Intel MPI reads.
  bool sets_intel_mpi() const {
    const auto first = view_.script.exports.lower_bound("I_MPI_");
    return first != view_.script.exports.end() && first->first.starts_with("I_MPI_");
  }
  void check_intel_options(const PlacedCommand& placed);
  std::uint64_t threads() const;

  std::optional<std::uint64_t> dims_;
  // Of the whole script, looked for once.
  mutable std::map<std::string, bool, std::less<>> loaded_;
  std::ptrdiff_t background_steps_ = 0;
  bool unsets_export_ = false;
  const PlacedCommand* asker_ = nullptr;  // the condition that asks for the other scheduler, while it lasts
};

bool LaunchRules::loads(std::string_view module) const {
  const auto [known, is_new] = loaded_.try_emplace(std::string(module), false);
  if (!is_new) return known->second;
  for (const PlacedCommand& placed : view_.commands) {
    if (placed.command.name() != "module" && placed.command.name() != "ml") continue;
    for (const ShellWord& word : placed.command.words)
      if (word.text.find(std::string(module) + "mpi") != std::string::npos ||
          word.text.starts_with(std::string(module) + "/") || word.text == module)
        return known->second = true;
  }
  return false;
}

// OpenMP threads of a rank, as far as the script sets them.
std::uint64_t LaunchRules::threads() const {
  const auto found = view_.script.exports.find("OMP_NUM_THREADS");
  if (found != view_.script.exports.end())
    if (const auto number = parse_unsigned(found->second.text, 1u << 20)) return *number;
  if (view_.request.chunks.empty()) return 0;
  const Chunk& chunk = view_.request.chunks.front();
  return chunk.threads > 0 ? chunk.threads : view_.pbs() && !view_.torque() ? chunk.cores : 0;
}

void LaunchRules::check_ranks(const PlacedCommand& placed, std::uint64_t ranks) {
  if (view_.request.chunks.empty() || view_.script.dialect == Dialect::none) return;
  const std::uint64_t asked = task_count(view_.request);
  if (ranks == asked || asked == 0) return;
  const bool more = ranks > asked;
  // One rank that starts its own is usual; fewer ranks than requested only waste.
  add("ranks-mismatch", more ? Severity::error : Severity::warning, placed.place,
      fmt::format("{} ranks are started, but {} were requested", ranks, asked),
      more ? "Open MPI: There are not enough slots available; other launchers put several ranks on a core"
           : fmt::format("{} of the requested slots stay empty", asked - ranks),
      fmt::format("-n {}, or {}", asked, view_.pbs() ? "change mpiprocs" : "change --ntasks-per-node"));
}

void LaunchRules::check_binding(const PlacedCommand& placed, std::uint64_t ranks) {
  const std::uint64_t count = threads();
  if (ranks == 0 || count <= 1 || !is_open_mpi(placed.command) || gives_cores_of_rank(placed.command)) return;
  if (view_.script.exports.contains("OMP_NUM_THREADS") &&
      option_value(placed.command, {"--bind-to", "-bind-to"}) == "core")
    add("bound-to-one-core", Severity::warning, placed.place,
        fmt::format("{} rank{} of {} threads, each bound to one core", ranks, ranks == 1 ? "" : "s", count),
        "Open MPI's --bind-to core is one core, unless --map-by has PE=n: all threads of a rank share it",
        fmt::format("--map-by slot:PE={} --bind-to core", count));
  if (ranks > 2) return;
  if (has_option(placed.command,
                 {"--bind-to", "-bind-to", "--map-by", "-map-by", "--bind-to-none", "--report-bindings"}) ||
      view_.script.exports.contains("OMPI_MCA_hwloc_base_binding_policy"))
    return;
  add("bound-to-one-core", Severity::warning, placed.place,
      fmt::format("{} rank{} of {} threads, each bound to one core", ranks, ranks == 1 ? "" : "s", count),
      "Open MPI binds to a core where there are at most two ranks: all threads of a rank share it",
      fmt::format("--map-by ppr:1:node:PE={} --bind-to core, or --bind-to none", count));
}

void LaunchRules::check_rankfile(const PlacedCommand& placed, std::optional<std::uint64_t> ranks) {
  const auto file = option_value(placed.command, {"--rankfile", "-rf", "-rankfile"});
  if (!file) return;
  if (has_option(placed.command, {"--map-by", "-map-by", "--bind-to", "-bind-to", "-npernode", "--npernode"}))
    add("rankfile-and-map", Severity::warning, placed.place, "a rankfile together with --map-by or --bind-to",
        "Open MPI rejects conflicting directives or ignores one of them", "use the rankfile alone");
  if (!has_option(placed.command, {"-n", "-np", "--np", "--n", "-c"}))
    add("rankfile-without-n", Severity::warning, placed.place,
        fmt::format("a rankfile ({}) without -n", *file),
        "without -n Open MPI starts as many ranks as there are slots, not as the file has lines", "-n RANKS");
  if (dims_ && ranks && *dims_ != *ranks)
    add("rankfile-against-dims", Severity::error, placed.place,
        fmt::format("-n {}, but the dims have {} ranks", *ranks, *dims_),
        "the rankfile was made for another number of ranks", fmt::format("-n {}", *dims_));
  for (const char* name : {"I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST"})
    if (view_.script.exports.contains(name))
      add("rankfile-and-pin", Severity::note, placed.place, fmt::format("a rankfile together with {}", name),
          "the variable is for Intel MPI, the rankfile for Open MPI: one of them has no effect",
          "keep the one for your MPI");
}

// Which MPI is meant is known where the script loads its module or uses options of Open MPI beside.
void LaunchRules::check_intel_options(const PlacedCommand& placed) {
  const auto words = intel_options(placed.command);
  if (words.empty()) return;
  std::vector<std::string> names;
  for (const ShellWord& word : words) names.push_back(word.text);
  const bool many = names.size() > 1;
  const bool open_mpi =
      loads("open") || (!loads_intel_mpi() && has_option(placed.command, {"--map-by", "--bind-to", "--mca",
                                                                          "-mca", "--hostfile", "-rf"}));
  const bool intel = !open_mpi && loads_intel_mpi();
  add("other-mpi-option", open_mpi ? Severity::error : Severity::note, place_of(placed, words.front()),
      fmt::format("{} {} of Intel MPI{}", join(names, ", "), many ? "are options" : "is an option",
                  intel ? ", whose module is loaded" : " or MPICH"),
      intel ? "correct for Intel MPI; with Open MPI's mpirun no rank would start"
            : fmt::format("Open MPI's mpirun does not support {} and starts nothing", many ? "them" : "it"),
      intel ? "no change, if mpirun -version in the job names Intel MPI"
            : "the mpirun of the MPI that the program was built with: which mpirun");
}

void LaunchRules::check_mpirun(const PlacedCommand& placed) {
  const ShellCommand& command = placed.command;
  const auto count = option_value(command, {"-n", "-np", "--np", "--n", "-c"});
  const auto ranks = count ? parse_unsigned(*count, 1u << 20) : std::nullopt;
  check_intel_options(placed);
  const bool starts_agents = std::ranges::any_of(
      command.words, [](const ShellWord& word) { return is_torchrun(word.text); });  // not ranks
  if (ranks && placed.depth == 0 && !starts_agents) check_ranks(placed, *ranks);
  if (ranks) check_binding(placed, *ranks);
  check_rankfile(placed, ranks);
  const auto hostfile = option_value(command, {"--hostfile", "-hostfile", "-machinefile", "--machinefile"});
  const bool node_file = hostfile && hostfile->find("PBS_NODEFILE") != std::string::npos;
  const bool one_each = !view_.request.chunks.empty() && view_.request.chunks.front().tasks <= 1;
  if (node_file && !count && one_each && is_open_mpi(command) &&
      !has_option(command, {"--map-by", "-npernode", "-N"}))
    add("hostfile-without-n", Severity::warning, placed.place, "--hostfile $PBS_NODEFILE without -n",
        "a file that names each host once gives Open MPI a slot for every core",
        fmt::format("-n {} --map-by ppr:1:node", task_count(view_.request)));
  const bool names_hosts =
      hostfile || has_option(command, {"-H", "-host", "--host", "--hosts", "-f", "--default-hostfile", "-rf",
                                       "--rankfile", "-rankfile"});
  if (view_.pbs() && node_count(view_.request) > 1 && !names_hosts && is_open_mpi(command))
    add("mpirun-without-hosts", Severity::note, placed.place,
        fmt::format("mpirun without a host list in a job of {} hosts", node_count(view_.request)),
        "only an Open MPI that was built with tm finds the hosts of PBS; another starts all ranks on the "
        "first",
        "ompi_info | grep tm   # if it prints nothing, add --hostfile \"$PBS_NODEFILE\"");
  if (has_option(command, {"--allow-run-as-root"}))
    add("runs-as-root", Severity::note, placed.place, "--allow-run-as-root", "jobs do not run as root",
        "remove it");
}

void LaunchRules::check_srun(const PlacedCommand& placed) {
  const ShellCommand& command = placed.command;
  const auto wide = directives_of(view_, "cpus-per-task", 0);
  const bool carried =
      has_option(command, {"--cpus-per-task", "-c"}) || view_.script.exports.contains("SRUN_CPUS_PER_TASK");
  if (view_.slurm() && !wide.empty() && wide.back()->value != "1" && !carried)
    add("srun-without-cpus", Severity::warning, placed.place,
        fmt::format("srun does not inherit --cpus-per-task={}", wide.back()->value),
        "since Slurm 22.05 it must be repeated: ranks may end up with one core each",
        "srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\", or export "
        "SRUN_CPUS_PER_TASK=\"$SLURM_CPUS_PER_TASK\"");
  for (const ShellWord& word : command.words) {
    const bool hides = word.text.starts_with("--gpus-per-task") ||
                       (word.text.starts_with("--gpu-bind") && word.text != "--gpu-bind=none");
    if (hides)
      add("gpu-hidden", Severity::warning, place_of(placed, word),
          fmt::format("{} hides the other ranks' GPUs from each rank", word.text),
          "NCCL's peer access and CUDA IPC then fail",
          "--gpu-bind=none; the rank picks its GPU by its local number");
    const std::string_view base = base_name(word.text);
    if (base == "mpirun" || base == "mpiexec")
      add("launcher-in-srun", Severity::error, place_of(placed, word),
          fmt::format("srun starts {} once for each task", base), "every one of them starts all ranks",
          fmt::format("{} alone, or srun with the program", base));
  }
  if (has_option(command, {"--mpi"}) && option_value(command, {"--mpi"}) == "pmi2")
    add("srun-pmi2", Severity::note, placed.place, "srun --mpi=pmi2",
        "Open MPI of most distributions is built without it: OMPI was not built with SLURM's PMI support",
        "srun --mpi=pmix");
  if (command.background && !has_option(command, {"--exact", "--overlap"}) &&
      !has_option(command, {"--exact="})) {
    if (background_steps_ > 1)
      add("steps-block", Severity::note, placed.place, "several srun run at once",
          "since Slurm 20.11 a step has its cores to itself: step creation temporarily disabled, retrying "
          "(Requested nodes are busy)",
          "srun --exact for each, with its own -n, -c and --mem");
  }
}

// A launcher that the scheduler does not bring.
void LaunchRules::check_foreign(const PlacedCommand& placed) {
  const std::string name = placed.command.base_name();
  const bool foreign =
      (name == "srun" && view_.pbs() && !view_.torque()) || (name == "aprun" && view_.slurm());
  if (!foreign || (asker_ != nullptr && (placed.line == asker_->line || asker_->depth > 0))) return;
  add("launcher-of-other-scheduler", Severity::error, placed.place,
      fmt::format("{} under {}", name, view_.pbs() ? "PBS" : "Slurm"),
      fmt::format("bash: {}: command not found", name),
      view_.pbs() ? "mpirun -n RANKS --hostfile \"$PBS_NODEFILE\"" : "srun");
}

// --export=NONE or a list without ALL: srun takes it over by SLURM_EXPORT_ENV, and so does the srun by which
// Open MPI reaches other nodes. Slurm 22.05: execve(): bash: No such file or directory.
void LaunchRules::check_export(const PlacedCommand& placed) {
  const auto given = directives_of(view_, "export", 0);
  if (!view_.slurm() || given.empty()) return;
  const std::string& value = given.back()->value;
  const auto names = split(value, ',');
  if (value.empty() || std::find(names.begin(), names.end(), "ALL") != names.end()) return;
  const bool srun = launch_tool_of(placed.command) == LaunchTool::srun;
  if (srun ? has_option(placed.command, {"--export"}) : node_count(view_.request) < 2) return;
  if (view_.script.exports.contains("SLURM_EXPORT_ENV")) return;
  if (unsets_export_) return;
  add("export-starves-ranks", Severity::warning, placed.place,
      fmt::format("--export={} also applies to {}", value,
                  srun ? "srun" : "the srun by which mpirun starts its daemons"),
      srun ? "the ranks get no PATH, no LD_LIBRARY_PATH and nothing of what the script exports: execve(): No "
             "such file or directory"
           : "the daemons on other nodes are not found: An ORTE daemon has unexpectedly failed after launch",
      "unset SLURM_EXPORT_ENV");
}

std::optional<DimsShape> read_dims(std::string_view word) {
  const auto parts = split(word, 'x');
  if (parts.size() < 2 || parts.size() > 4) return std::nullopt;
  DimsShape shape;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_unsigned(parts[i], 1u << 10);
    if (!number || *number == 0) return std::nullopt;
    if (i == 0)
      shape.per_host = *number;
    else
      shape.hosts *= *number;
  }
  return shape;
}

// "4x2x3" behind ddlrun or a rankfile generator.
void LaunchRules::check_dims(const PlacedCommand& placed) {
  for (std::size_t i = 1; i < placed.command.words.size() && i < 6; ++i) {
    const ShellWord& word = placed.command.words[i];
    const auto shape = read_dims(word.text);
    if (!shape) continue;
    dims_ = shape->ranks();
    const bool launches =
        launch_tool_of(placed.command) == LaunchTool::ddlrun && placed.command.words[1].text == "launch";
    if (launches) check_launch_dims(placed, word, *shape);
    return;
  }
}

void LaunchRules::check_launch_dims(const PlacedCommand& placed, const ShellWord& word,
                                    const DimsShape& shape) {
  const std::uint64_t asked = task_count(view_.request), hosts = node_count(view_.request);
  if (view_.request.chunks.empty() || asked <= 1 || asked == shape.ranks()) return;
  const bool more = shape.ranks() > asked;
  // Only mpirun takes the job's tasks for its slots: srun gets the host of each rank, ssh knows no tasks. A
  // whole node without a number of tasks has a slot for each core.
  const std::string launcher = option_value(placed.command, {"--launcher"}).value_or("");
  const bool is_whole = view_.slurm() && view_.request.exclusive &&
                        directives_of(view_, "ntasks", 0).empty() &&
                        directives_of(view_, "ntasks-per-node", 0).empty();
  if (more && shape.hosts <= hosts && (launcher == "srun" || launcher == "ssh" || is_whole)) return;
  const bool same_hosts = shape.hosts == hosts;
  std::string hint =
      view_.pbs() ? (same_hosts ? "" : fmt::format("select={} with ", shape.hosts)) +
                        fmt::format("mpiprocs={}", shape.per_host)
                  : fmt::format("#SBATCH {}--ntasks-per-node={}",
                                same_hosts ? "" : fmt::format("--nodes={} ", shape.hosts), shape.per_host);
  if (more && view_.slurm() && shape.hosts <= hosts) hint += "; or ddlrun launch --launcher srun";
  if (!more) hint += fmt::format("; or dims {}x{}", asked / std::max<std::uint64_t>(1, hosts), hosts);
  add("ranks-mismatch", more ? Severity::error : Severity::warning, place_of(placed, word),
      fmt::format("dims {} are {} ranks on {} hosts, the job has {} tasks on {}", word.text, shape.ranks(),
                  shape.hosts, asked, hosts),
      !more           ? fmt::format("{} of the requested tasks start no rank", asked - shape.ranks())
      : view_.slurm() ? "mpirun starts no more ranks on a host than the job has tasks there"
                      : "more ranks than mpiprocs: they share cores, or mpirun has too few slots",
      hint);
}

bool mentions_or(std::string_view comment) {
  for (const std::string_view word :
       {"혹은", "또는", "或", "または", "alternativ", "Alternativ", "# or", "# OR", "# Or", "#or"})
    if (comment.find(word) != std::string_view::npos) return true;
  return false;
}

// Two launches in a row: both run, one after the other.
void LaunchRules::check_sequence() {
  const PlacedCommand* before = nullptr;
  for (const PlacedCommand& placed : view_.commands) {
    if (placed.depth > 0) continue;
    if (placed.command.name() == "exit" || placed.command.name() == "wait") before = nullptr;
    if (launch_tool_of(placed.command) == LaunchTool::none ||
        launch_tool_of(placed.command) == LaunchTool::ddlrun || placed.command.background)
      continue;
    if (before != nullptr) {
      bool alternative = false;
      for (int number = before->line->last_line; number < placed.line->line - 1; ++number) {
        const std::string_view line = trim(view_.script.lines[static_cast<std::size_t>(number)]);
        alternative = alternative || (line.starts_with('#') && mentions_or(line));
      }
      add(alternative ? "alternatives-both-run" : "launches-in-a-row",
          alternative ? Severity::warning : Severity::note, placed.place,
          alternative ? fmt::format("an alternative to line {}, but both run", before->place.line)
                      : fmt::format("a second launch, after that of line {}", before->place.line),
          "a comment selects nothing: the second starts when the first has ended, within the same walltime",
          alternative ? "keep one, and put # before each line of the other"
                      : "if both are wanted, check that the walltime is enough for both");
    }
    before = &placed;
  }
}

void LaunchRules::check_devices() {
  const auto found = view_.script.exports.find("CUDA_VISIBLE_DEVICES");
  if (found == view_.script.exports.end() || found->second.text.empty() || found->second.text[0] == '$')
    return;
  bool gpus = view_.request.total_gpus > 0;
  for (const Chunk& chunk : view_.request.chunks) gpus = gpus || chunk.gpus > 0;
  if (!gpus) return;
  add("devices-by-hand", Severity::warning, {found->second.line, 1},
      fmt::format("CUDA_VISIBLE_DEVICES={} overrides the scheduler's choice", found->second.text),
      "on a shared node these may be the GPUs of another job", "remove it: the scheduler sets it");
}

std::vector<Finding> LaunchRules::check() {
  background_steps_ = std::ranges::count_if(view_.commands, [](const PlacedCommand& placed) {
    return placed.command.background && launch_tool_of(placed.command) == LaunchTool::srun;
  });
  unsets_export_ = std::ranges::any_of(view_.commands, [](const PlacedCommand& placed) {
    return placed.command.name() == "unset" && has_word(placed.command, "SLURM_EXPORT_ENV");
  });
  for (const PlacedCommand& placed : view_.commands) {
    check_dims(placed);
    const LaunchTool starter = launch_tool_of(placed.command);
    if (starter == LaunchTool::mpirun) check_mpirun(placed);
    if (starter == LaunchTool::srun) check_srun(placed);
    if (starter == LaunchTool::srun || starter == LaunchTool::mpirun) check_export(placed);
    if (asker_ != nullptr && placed.depth < asker_->depth) asker_ = nullptr;
    if (view_.pbs() ? asks_for(placed.command, "srun", "SLURM_") : asks_for(placed.command, "aprun", "PBS_"))
      asker_ = &placed;
    check_foreign(placed);
  }
  check_sequence();
  check_devices();
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> lint_launch(const ScriptView& view) { return LaunchRules(view).check(); }

}  // namespace ddlrun::job_scripts
