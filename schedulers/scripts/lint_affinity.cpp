// SPDX-License-Identifier: MIT
// The thread variables of a script, checked by affinity/ with the script's facts about its nodes.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"
#include "schedulers/scripts/torch_start.hpp"
#include "topology/affinity/thread_lint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

using affinity::ThreadMachine;

std::uint32_t site_number(const templates::SiteProfile* site, std::string_view key) {
  if (site == nullptr) return 0;
  for (const auto& [name, value] : site->defaults)
    if (name == key) return static_cast<std::uint32_t>(parse_unsigned(value.text, 1u << 16).value_or(0));
  return 0;
}

// A node, as well as it is known: what was given, the centre's, or what the request gives away. 68 and 72
// cores of one node with 4 hardware threads each are Knights Landing.
struct KnownMachine {
  ThreadMachine machine{0, 0, 0};
  bool siblings_known = true;  // how many hardware threads a core has
};

KnownMachine find_machine(const ScriptView& view) {
  if (view.context.machine) return {*view.context.machine, true};
  const std::uint32_t cores = site_number(view.context.site, "cores_per_node");
  const std::uint32_t per_core = site_number(view.context.site, "hardware_threads_per_core");
  if (cores > 0) return {{1, cores, std::max(1u, per_core)}, per_core > 0};
  if (view.request.chunks.empty()) return {};
  const Chunk& chunk = view.request.chunks.front();
  if (chunk.cores == 68) return {{1, 68, 4}, true};
  const bool whole = view.request.exclusive || view.request.spread == Spread::scatter;
  if (!whole || chunk.cores <= 1) return {};
  return {{1, static_cast<std::uint32_t>(chunk.cores), 1}, false};
}

bool runs_word(const ScriptView& view, std::string_view text) {
  for (const PlacedCommand& placed : view.commands)
    for (const ShellWord& word : placed.command.words)
      if (word.text == text || word.text.ends_with("/" + std::string(text))) return true;
  return false;
}

// numactl -m and -p choose memory only.
bool binds_cores(const PlacedCommand& placed) {
  const auto& words = placed.command.words;
  const auto numactl =
      std::ranges::find_if(words, [](const ShellWord& word) { return base_name(word.text) == "numactl"; });
  return std::any_of(numactl, words.end(), [](const ShellWord& word) {
    const std::string_view text = word.text;
    return text.starts_with("-C") || text.starts_with("-N") || text.starts_with("--physcpubind") ||
           text.starts_with("--cpunodebind");
  });
}

bool uses_rankfile(const ScriptView& view) {
  return std::any_of(view.commands.begin(), view.commands.end(), [](const PlacedCommand& placed) {
    return has_option(placed.command, {"-rf", "--rankfile", "-rankfile"});
  });
}

affinity::ThreadEnvironment describe(const ScriptView& view) {
  affinity::ThreadEnvironment environment;
  for (const auto& [name, line] : view.script.exports) {
    // A value that the shell has yet to compute is unknown.
    if (line.text.find('$') == std::string::npos && line.text.find('`') == std::string::npos)
      environment.variables[name] = line.text;
  }
  const KnownMachine known = find_machine(view);
  environment.machine = known.machine;
  environment.siblings_known = known.siblings_known;
  if (!view.request.chunks.empty()) {
    const Chunk& chunk = view.request.chunks.front();
    environment.ranks_per_node = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, chunk.tasks));
    if (view.pbs()) {
      environment.ompthreads = static_cast<std::uint32_t>(chunk.threads);
      // Torque sets no OMP_NUM_THREADS.
      if (!view.torque()) environment.cpus_per_chunk = static_cast<std::uint32_t>(chunk.cores);
    }
  }
  environment.rankfile = uses_rankfile(view);
  environment.numactl = std::ranges::any_of(view.commands, binds_cores) || runs_word(view, "taskset");
  return environment;
}

Severity severity_of(affinity::AffinitySeverity severity) {
  switch (severity) {
    case affinity::AffinitySeverity::error:
      return Severity::error;
    case affinity::AffinitySeverity::warning:
      return Severity::warning;
    case affinity::AffinitySeverity::note:
      return Severity::note;
  }
  return Severity::warning;
}

// The hint's KMP_AFFINITY with the user's own "verbose" in it: it changes no place, and they want its output.
std::string keep_verbose(std::string hint, const ScriptView& view) {
  const auto found = view.script.exports.find("KMP_AFFINITY");
  static constexpr std::string_view name = "KMP_AFFINITY=";
  const std::size_t at = hint.find(name);
  if (found == view.script.exports.end() || at == std::string::npos) return hint;
  const auto words = split(found->second.text, ',');
  const bool wanted = std::find(words.begin(), words.end(), "verbose") != words.end();
  if (wanted && hint.find("verbose") == std::string::npos) hint.insert(at + name.size(), "verbose,");
  return hint;
}

// "nodes=2:ppn=8": OpenPBS makes mpiprocs and ncpus of ppn, Torque sets no threads at all.
void report_ppn(const ScriptView& view, affinity::AffinityFinding& found) {
  if (view.request.style != Style::old_nodes) return;
  found.severity = affinity::AffinitySeverity::note;
  found.what = fmt::format("ppn={0} and no OMP_NUM_THREADS: OpenPBS sets it to {0} for each of {0} ranks",
                           view.request.chunks.front().tasks);
  found.hint = "export OMP_NUM_THREADS=1, or --scheduler torque, which sets nothing";
}

// Cores that follow from tasks of one CPU each, since the script asks for no more: the threads are wanted,
// and their CPUs are missing. torchrun starts several processes in a task.
void ask_for_cpus(const ScriptView& view, affinity::AffinityFinding& found) {
  const bool knows_node = view.context.machine || site_number(view.context.site, "cores_per_node") > 0;
  if (!view.slurm() || knows_node || !directives_of(view, "cpus-per-task", 0).empty()) return;
  const auto typed = view.script.exports.find("OMP_NUM_THREADS");
  const auto threads =
      typed == view.script.exports.end() ? std::nullopt : parse_unsigned(typed->second.text, max_count);
  if (!threads || view.request.chunks.empty()) return;
  const std::uint64_t tasks = std::max<std::uint64_t>(1, view.request.chunks.front().tasks);
  std::uint64_t processes = tasks;
  for (const PlacedCommand& placed : view.commands) {
    const auto& words = placed.command.words;
    if (std::ranges::none_of(words, [](const ShellWord& word) { return is_torchrun(word.text); })) continue;
    const auto each = option_value(placed.command, {"--nproc_per_node", "--nproc-per-node"});
    processes = std::max(processes, each ? parse_unsigned(*each, max_count).value_or(1) : 1);
  }
  found.hint = fmt::format("#SBATCH --cpus-per-task={}", (processes * *threads + tasks - 1) / tasks);
}

}  // namespace

std::vector<Finding> lint_affinity(const ScriptView& view) {
  std::vector<Finding> findings;
  for (affinity::AffinityFinding& found : check_thread_environment(describe(view))) {
    if (found.id == "ompthreads-missing") {
      // A select is lint_threads'; ddlrun launch sets the threads of its ranks itself.
      if (view.request.style == Style::select || launches_by_ddlrun(view)) continue;
      report_ppn(view, found);
    }
    if (found.id == "threads-over-cores") ask_for_cpus(view, found);
    Place place{view.request.select_line, view.request.select_line > 0 ? 1 : 0};
    const auto line = view.script.exports.find(found.variable);
    if (line != view.script.exports.end()) place = {line->second.line, 1};
    findings.push_back(
        {found.id, severity_of(found.severity), place, found.what, "", keep_verbose(found.hint, view)});
  }
  return findings;
}

}  // namespace ddlrun::job_scripts
