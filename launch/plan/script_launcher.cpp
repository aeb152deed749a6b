// SPDX-License-Identifier: MIT
#include "launch/plan/script_launcher.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_script_bytes = 64 * 1024;

// What may stand before the command of a line: "if", "OMP_NUM_THREADS=4", "exec".
bool precedes_command(std::string_view word) {
  static constexpr std::array<std::string_view, 10> words{"exec", "time", "env",   "nohup", "if",
                                                          "then", "do",   "while", "!",     "{"};
  const std::size_t equals = word.find('=');
  const bool assigns = equals != word.npos && equals > 0 && !word.starts_with('-') &&
                       word.substr(0, equals).find('/') == word.npos;
  return assigns || std::ranges::find(words, word) != words.end();
}

Command words_of_command(std::string_view text) {
  const auto words = split_blanks(text, " \t\r");
  const auto first = std::ranges::find_if_not(words, precedes_command);
  return {first, words.end()};
}

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
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).starts_with('#')) continue;
    // Between quotes the separators are text, but no launcher begins there.
    for (const std::string_view command : split_blanks(line, ";&|()")) {
      Command words = words_of_command(command);
      const auto nested = frameworks::find_nested_launcher(words);
      if (nested && !(nested->stays_on_host && ranks <= hosts)) return {number, std::move(words)};
    }
  }
  return {};
}

std::string remark_on_script(System& system, const Command& program, const std::string& workdir,
                             std::size_t ranks, std::size_t hosts) {
  if (program.empty() || ranks < 2) return {};
  std::string path, script;
  if (const auto at = find_script(program)) {
    path = *at == 0 ? find_program(system, program[0]) : program[*at];
    if (!path.empty()) script = read_shell_script(system, path.starts_with('/') ? path : workdir + "/" + path);
  }
  const ScriptLauncher found = find_launcher_in_script(find_shell_text(program, script), ranks, hosts);
  if (found.line == 0) return {};
  const std::string place = script.empty() ? "the text of " + std::string(base_name(program[0])) + " -c"
                                           : fmt::format("{} line {}", printable(path, 100), found.line);
  const auto nested = frameworks::find_nested_launcher(found.words);
  return fmt::format(
      "warning: {} runs {}, which starts ranks itself: each of {} ranks runs it; put the program alone "
      "after --: {}",
      place, nested->name, ranks,
      nested->program.empty() ? "PROGRAM" : printable(join(nested->program, " "), 200));
}

}  // namespace ddlrun::launch
