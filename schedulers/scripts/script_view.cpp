// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

// How a command changes the depth for what comes behind it.
int opens(const ShellCommand& command) {
  int change = 0;
  for (const std::string& word : command.keywords) {
    if (word == "if" || word == "while" || word == "until" || word == "{" || word == "(") ++change;
    if (word == "fi" || word == "done" || word == "esac" || word == "}" || word == ")") --change;
  }
  if (command.name() == "for" || command.name() == "case" || command.name() == "select") ++change;
  return change;
}

}  // namespace

ScriptView make_script_view(const JobScript& script, const LintContext& context) {
  const Dialect dialect = context.scheduler == Dialect::none ? script.dialect : context.scheduler;
  ScriptView view{script, context, dialect, read_request(script), {}};
  int depth = 0;
  for (const ScriptLine& line : script.body) {
    for (ShellCommand& command : parse_commands(line)) {
      const int change = opens(command);
      if (change < 0) depth = std::max(0, depth + change);
      PlacedCommand placed{&line, std::move(command), depth, {line.line, 1}};
      if (change > 0) depth += change;
      placed.command.drop_wrappers();
      if (!placed.command.words.empty())
        placed.place = place_in(line, placed.command.words.front().at);
      else if (!placed.command.assignments.empty())
        placed.place = place_in(line, placed.command.assignments.front().at);
      if (change > 0) placed.depth = depth;
      view.commands.push_back(std::move(placed));
    }
  }
  return view;
}

bool asks_for(const ShellCommand& command, std::string_view program, std::string_view variables) {
  const std::string name = command.name();
  if (name == "command" || name == "which" || name == "type" || name == "hash")
    return has_word(command, program);
  if (name != "[" && name != "[[" && name != "test" && name != "case") return false;
  const std::string prefix(variables), expanded = "$" + prefix, in_braces = "${" + prefix,
                                       look_up = "command -v " + std::string(program);
  return std::ranges::any_of(command.words, [&](const ShellWord& word) {
    const std::string_view text = word.text;
    return text.starts_with(prefix) || text.find(expanded) != text.npos ||
           text.find(in_braces) != text.npos || text.find(look_up) != text.npos;
  });
}

LaunchTool launch_tool_of(const ShellCommand& command) {
  const std::string name = command.base_name();
  if (name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun" ||
      name == "mpiexec.hydra")
    return LaunchTool::mpirun;
  if (name == "srun") return LaunchTool::srun;
  if (name == "horovodrun") return LaunchTool::horovodrun;
  if (name == "ddlrun") return LaunchTool::ddlrun;
  // What handles the node file as a text, or as a variable, starts nothing.
  static constexpr std::array<std::string_view, 40> handlers{
      "cat",    "sort",     "wc",      "echo",  "printf", "uniq",     "cp",        "mv",    "rm",    "awk",
      "gawk",   "sed",      "grep",    "head",  "tail",   "cut",      "tr",        "paste", "tee",   "nl",
      "export", "readonly", "declare", "local", "unset",  "typeset",  "read",      "[",     "[[",    "test",
      "for",    "mapfile",  "while",   "ls",    "stat",   "readlink", "readarray", "set",   "chmod", "cd"};
  if (std::find(handlers.begin(), handlers.end(), name) != handlers.end()) return LaunchTool::none;
  for (const ShellWord& word : command.words)
    if (word.text.find("PBS_NODEFILE") != std::string::npos) return LaunchTool::script;
  return LaunchTool::none;
}

std::optional<std::string> option_value(const ShellCommand& command,
                                        std::initializer_list<std::string_view> names) {
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    for (const std::string_view name : names) {
      if (word == name) return i + 1 < command.words.size() ? command.words[i + 1].text : "";
      if (name.starts_with("--") && word.starts_with(std::string(name) + "="))
        return word.substr(name.size() + 1);
      if (name.size() == 2 && word.size() > 2 && word.starts_with(name) && parse_unsigned(word.substr(2)))
        return word.substr(2);
    }
  }
  return std::nullopt;
}

bool has_option(const ShellCommand& command, std::initializer_list<std::string_view> names) {
  return option_value(command, names).has_value();
}

bool has_word(const ShellCommand& command, std::string_view text) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [&](const ShellWord& word) { return word.text == text; });
}

bool launches_by_ddlrun(const ScriptView& view) {
  return std::any_of(view.commands.begin(), view.commands.end(), [](const PlacedCommand& placed) {
    return launch_tool_of(placed.command) == LaunchTool::ddlrun && has_word(placed.command, "launch");
  });
}

std::uint64_t node_cores(const ScriptView& view) {
  const auto& machine = view.context.machine;
  if (machine) return std::uint64_t{machine->packages} * machine->cores_per_package;
  if (view.context.site == nullptr) return 0;
  for (const auto& [name, value] : view.context.site->defaults)
    if (name == "cores_per_node") return parse_unsigned(value.text, max_count).value_or(0);
  return 0;
}

std::vector<ShellWord> intel_options(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 16> words{
      "-PSM2", "-psm2", "-PSM",     "-OFI",     "-TMI",      "-DAPL", "-RDMA",           "-prepend-rank",
      "-genv", "-ppn",  "-genvall", "-perhost", "-genvlist", "-rr",   "-print-rank-map", "-l"};
  std::vector<ShellWord> found;
  for (const ShellWord& word : command.words)
    if (std::find(words.begin(), words.end(), word.text) != words.end()) found.push_back(word);
  return found;
}

bool gives_cores_of_rank(const ShellCommand& command) {
  if (has_option(command, {"--rankfile", "-rankfile", "-rf", "--cpus-per-proc", "-cpus-per-proc",
                           "--cpus-per-rank", "-cpus-per-rank"}))
    return true;
  const auto maps_cores = [](std::string_view policy) {
    const std::string text = to_lower(policy);
    return text.find("pe=") != text.npos || text.find("pe-list=") != text.npos ||
           text.find("rankfile") != text.npos;
  };
  const auto& words = command.words;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i].text != "--mca" && words[i].text != "-mca") continue;
    const std::string &name = words[i + 1].text, &value = words[i + 2].text;
    if (name == "rmaps_base_cpus_per_rank" || name == "rmaps_base_cpus_per_proc") return true;
    if (name == "rmaps_base_mapping_policy" && maps_cores(value)) return true;
  }
  return maps_cores(option_value(command, {"--map-by", "-map-by"}).value_or(""));
}

Place place_of(const PlacedCommand& command, const ShellWord& word) {
  return place_in(*command.line, word.at);
}

std::vector<const Directive*> directives_of(const ScriptView& view, std::string_view slurm_name,
                                            char pbs_letter) {
  std::vector<const Directive*> found;
  for (const Directive& directive : view.script.directives) {
    const bool same =
        view.script.dialect == Dialect::slurm
            ? !slurm_name.empty() && slurm_option_name(directive.option) == slurm_name
            : directive.option.size() == 2 && directive.option[1] == pbs_letter && pbs_letter != 0;
    if (same) found.push_back(&directive);
  }
  return found;
}

bool has_split_value(const ScriptView& view, const Directive& directive) {
  return std::ranges::any_of(view.script.directives, [&](const Directive& other) {
    return other.line == directive.line && other.option.empty() && other.column > directive.column;
  });
}

}  // namespace ddlrun::job_scripts
