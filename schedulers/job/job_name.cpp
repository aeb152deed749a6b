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

// The word that says most about what runs.
std::string_view naming_word(const Command& program) {
  if (const auto script = find_script(program)) return base_name(program[*script]);
  const auto module = std::ranges::find(program, "-m");  // "python -m package.module"
  return module != program.end() && module + 1 != program.end() ? std::string_view(*(module + 1))
                                                                : std::string_view();
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
  for (const char c : without_extension(naming_word(program))) {
    if (name.empty() ? is_letter(c) : fits_name(c)) name += c;
  }
  return name.empty() ? "ddlrun" : name.substr(0, longest);
}

}  // namespace ddlrun::schedulers
