// SPDX-License-Identifier: MIT
// Chunks of several ranks and their OMP_NUM_THREADS: PBS sets it to ncpus where ompthreads is missing, and an
// export of the script holds on the first host.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

constexpr std::string_view variable = "OMP_NUM_THREADS";

bool passes_threads_on(const ShellCommand& command) {
  const auto& words = command.words;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i].text == "-x" && words[i + 1].text.substr(0, words[i + 1].text.find('=')) == variable)
      return true;
  return false;
}

// mpirun of Intel MPI and of MPICH takes the whole environment along.
bool loads_hydra(const ScriptView& view) {
  return std::ranges::any_of(view.commands, [](const PlacedCommand& placed) {
    const bool loads = placed.command.name() == "module" || placed.command.name() == "ml";
    return loads && std::ranges::any_of(placed.command.words, [](const ShellWord& word) {
             return word.text.find("intel") != std::string::npos ||
                    word.text.find("mpich") != std::string::npos;
           });
  });
}

// Whether each start of ranks by `launch` names the number of threads, or forgets PBS's variable before.
bool settles_threads(const ScriptView& view) {
  return std::ranges::all_of(view.commands,
                             [&](const PlacedCommand& placed) {
                               const bool launches = launch_tool_of(placed.command) == LaunchTool::ddlrun &&
                                                     has_word(placed.command, "launch");
                               return !launches || has_option(placed.command, {"--threads"}) ||
                                      passes_threads_on(placed.command);
                             }) ||
         std::ranges::any_of(view.commands, [](const PlacedCommand& placed) {
           return placed.command.name() == "unset" && has_word(placed.command, variable);
         });
}

class ThreadRules : private RuleSet {
 public:
  explicit ThreadRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check() {
    if (!view_.pbs() || view_.torque() || view_.request.style != Style::select) return {};
    // `launch` keeps a variable that is set, on all hosts: PBS's, or the script's own.
    by_ddlrun_ = launches_by_ddlrun(view_);
    const bool is_set = view_.script.exports.contains(std::string(variable));
    if (by_ddlrun_ && (is_set || settles_threads(view_))) return {};
    for (const Chunk& chunk : view_.request.chunks)
      if (chunk.cores > 0 && chunk.tasks > 1 && chunk.threads == 0) check_chunk(chunk);
    return std::move(findings_);
  }

 private:
  void check_chunk(const Chunk& chunk) {
    const std::uint64_t usual = std::max<std::uint64_t>(1, chunk.cores / chunk.tasks);
    if (view_.script.exports.contains(std::string(variable))) return check_export(chunk, usual);
    const auto directives = directives_of(view_, "", 'l');
    const auto select = std::ranges::find_if(directives, [](const Directive* directive) {
      return directive->value.find("select=") != std::string::npos;
    });
    const Place place = select == directives.end() ? Place{} : Place{(*select)->line, (*select)->column};
    add("ompthreads-missing", Severity::warning, place,
        fmt::format("ncpus={} and mpiprocs={} without ompthreads", chunk.cores, chunk.tasks),
        fmt::format("PBS sets OMP_NUM_THREADS to ncpus{}: {} ranks of {} threads on {} cores",
                    by_ddlrun_ ? ", and launch keeps it" : "", chunk.tasks, chunk.cores, chunk.cores),
        fmt::format(":ompthreads={}", usual));
  }

  // Open MPI 4.1 under OpenPBS 23.06: 1 on the first host, on the others PBS's number, or none by ssh.
  void check_export(const Chunk& chunk, std::uint64_t usual) {
    if (node_count(view_.request) < 2) return;
    const auto typed = parse_unsigned(view_.script.exports.at(std::string(variable)).text, 1u << 20);
    if (loads_hydra(view_)) return;
    for (const PlacedCommand& placed : view_.commands) {
      if (launch_tool_of(placed.command) != LaunchTool::mpirun || passes_threads_on(placed.command) ||
          !intel_options(placed.command).empty())
        continue;
      add("ompthreads-missing", Severity::warning, placed.place,
          "OMP_NUM_THREADS is exported, but not passed to the other hosts",
          fmt::format("Open MPI passes a variable on with -x only; ranks on other hosts have PBS's {}, the "
                      "ncpus, or none",
                      chunk.cores),
          fmt::format("-x OMP_NUM_THREADS, or :ompthreads={}", typed.value_or(usual)));
      return;
    }
  }

  bool by_ddlrun_ = false;
};

}  // namespace

std::vector<Finding> lint_threads(const ScriptView& view) { return ThreadRules(view).check(); }

}  // namespace ddlrun::job_scripts
