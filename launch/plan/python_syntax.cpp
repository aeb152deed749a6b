// SPDX-License-Identifier: MIT
#include "launch/plan/python_syntax.hpp"

#include "base/os/program_path.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

constexpr auto longest_check = std::chrono::seconds(5);
constexpr std::uint64_t most_answer_bytes = 4096;
constexpr std::string_view answer_lead = "ddlrun-syntax ";

// compile() also finds what ast.parse() passes: "return" outside of a function. py_compile would write a
// file.
constexpr const char* check_code = R"(import sys
try:
  compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec', dont_inherit=True)
except SyntaxError as e:
  print('ddlrun-syntax %d.%d %d %s' % (sys.version_info[0], sys.version_info[1], e.lineno or 0, e.msg)))";

// "ddlrun-syntax 3.11 12 invalid syntax"
std::optional<Message> parse_answer(std::string_view answer, const std::string& script) {
  if (!answer.starts_with(answer_lead)) return std::nullopt;
  const std::string_view fields =
      trim(answer.substr(answer_lead.size(), answer.find('\n') - answer_lead.size()));
  const auto words = split(fields, ' ');
  const auto line = words.size() > 2 ? parse_unsigned(words[1]) : std::nullopt;
  if (!line) return std::nullopt;
  const std::string_view why = fields.substr(words[0].size() + words[1].size() + 2);
  const std::string file = printable(script, 200);
  return Message{
      fmt::format("Python {} cannot read the script: {}", printable(words[0], 10), printable(why, 200)),
      *line == 0 ? file : fmt::format("{}:{}", file, *line),
      *line == 0 ? "file " + quote_shell(script)
                 : fmt::format("sed -n {},{}p {}   # then correct line {}", *line > 2 ? *line - 2 : 1,
                               *line + 1, quote_shell(script), *line)};
}

}  // namespace

std::optional<Message> find_syntax_error(System& system, const std::vector<std::string>& program,
                                         const std::string& workdir) {
  if (program.empty() || !is_python(program[0])) return std::nullopt;
  const auto at = find_script(program);
  if (!at || *at == 0) return std::nullopt;
  const std::string& script = program[*at];
  const std::string path = script.starts_with('/') ? script : workdir + "/" + script;
  const std::string python = find_program(system, program[0]);
  if (python.empty() || !system.files.exists(path)) return std::nullopt;
  ProcessLimits limits;
  limits.timeout = longest_check;
  limits.output_bytes = most_answer_bytes;
  // -I -S: without PYTHON* variables, the user's directory and sitecustomize.
  const ProcessResult result = system.processes.run({python, "-I", "-S", "-c", check_code, path}, limits);
  return result.ok() ? parse_answer(result.out, script) : std::nullopt;
}

}  // namespace ddlrun::launch
