// SPDX-License-Identifier: MIT
#include "launch/plan/script_launcher.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_script_bytes = 64 * 1024;

std::string read_shell_script(System& system, const std::string& path) {
  try {
    const auto part = system.files.read_from(path, 0, most_script_bytes);
    return part ? part->bytes : std::string();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ScriptLauncher find_launcher_in_script(std::string_view text, std::size_t ranks, std::size_t hosts) {
  if (text.find("DDLRUN_") != text.npos) return {};  // it tests where it runs
  const auto lines = split(text, '\n');
  for (const ScriptLine& line : read_shell_lines({lines.begin(), lines.end()})) {
    for (ShellCommand& command : parse_commands(line)) {
      command.drop_wrappers();
      Command words = command.texts();
      const auto nested = frameworks::find_nested_launcher(words);
      if (nested && !nested->program.empty() && !(nested->stays_on_host && ranks <= hosts))
        return {static_cast<std::size_t>(place_in(line, command.words.front().at).line), std::move(words)};
    }
  }
  return {};
}

std::string remark_on_script(System& system, const Command& program, const std::string& workdir,
                             std::size_t ranks, std::size_t hosts) {
  if (program.empty() || ranks < 2) return {};
  std::string path, script;
  if (const auto at = find_script(program)) {
    const bool is_path = *at != 0 || program[0].find('/') != std::string::npos;
    path = is_path ? program[*at] : find_program(system, program[0]);
    if (!path.empty())
      script = read_shell_script(system, path.starts_with('/') ? path : workdir + "/" + path);
  }
  const ScriptLauncher found = find_launcher_in_script(find_shell_text(program, script), ranks, hosts);
  if (found.line == 0) return {};
  const std::string place = script.empty() ? "the text of " + std::string(base_name(program[0])) + " -c"
                                           : fmt::format("{} line {}", printable(path, 100), found.line);
  const auto nested = frameworks::find_nested_launcher(found.words);
  return fmt::format(
      "warning: {} runs {}, which starts ranks itself: each of {} ranks runs it; put the program alone "
      "after --: {}",
      place, nested->name, ranks, printable(render_shell(nested->program), 200));
}

}  // namespace ddlrun::launch
