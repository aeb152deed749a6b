// SPDX-License-Identifier: MIT
#include "schedulers/job/job_name.hpp"

#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool fits_name(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("._+-").find(c) != std::string_view::npos;
}

// The words of a shell's text that is one simple command; empty where it is more than that.
Command simple_command(std::string_view text) {
  if (text.find_first_of(";&|<>()`{}\n\"'\\") != std::string_view::npos) return {};
  Command words;
  for (const std::string_view word : split(text, ' ')) {
    const bool is_lead = words.empty() && (word == "exec" || word.find('=') != std::string_view::npos);
    if (!trim(word).empty() && !is_lead) words.emplace_back(trim(word));
  }
  return words;
}

// The word that says most about what runs.
std::string naming_word(const Command& program) {
  if (const auto script = find_script(program)) return std::string(base_name(program[*script]));
  const auto module = std::ranges::find(program, "-m");  // "python -m package.module"
  if (module != program.end() && module + 1 != program.end()) return *(module + 1);
  const Command inner = simple_command(find_shell_text(program, {}));
  const auto inner_script = find_script(inner);
  const bool is_known = inner_script && inner[*inner_script].find('$') == std::string::npos;
  return std::string(base_name(is_known ? inner[*inner_script] : program[0]));
}

std::string_view without_extension(std::string_view name) {
  constexpr std::array<std::string_view, 6> extensions{".py", ".sh", ".pl", ".R", ".jl", ".exe"};
  for (const std::string_view extension : extensions) {
    if (name.ends_with(extension)) return name.substr(0, name.size() - extension.size());
  }
  return name;
}

}  // namespace

std::string job_name_of(const Command& program, std::size_t longest) {
  if (program.empty() || program[0].starts_with('-')) return "ddl-train";
  std::string name;
  const std::string word = naming_word(program);
  for (const char c : without_extension(word)) {
    if (name.empty() ? is_letter(c) : fits_name(c)) name += c;
  }
  return name.empty() ? "ddlrun" : name.substr(0, longest);
}

}  // namespace ddlrun::schedulers
