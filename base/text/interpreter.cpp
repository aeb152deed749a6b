// SPDX-License-Identifier: MIT
#include "base/text/interpreter.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun {

namespace {

constexpr std::array<std::string_view, 5> shells{"bash", "sh", "dash", "zsh", "ksh"};
constexpr std::array<std::string_view, 4> evaluators{"perl", "Rscript", "julia", "ruby"};  // -e TEXT

constexpr std::array<std::string_view, 33> starters{
    "env",        "nice",      "ionice",      "nohup",   "setsid",  "stdbuf",  "unbuffer",
    "time",       "timeout",   "chrt",        "prlimit", "setarch", "numactl", "taskset",
    "likwid-pin", "apptainer", "singularity", "podman",  "docker",  "enroot",  "ch-run",
    "shifter",    "conda",     "micromamba",  "uv",      "strace",  "ltrace",  "gdb",
    "cuda-gdb",   "valgrind",  "perf",        "nsys",    "ncu"};

// Options whose value is the next word.
bool takes_value(bool python, const std::string& option) {
  if (python) return option == "-W" || option == "-X";
  return option == "-o" || option == "-O" || option == "-I" || option == "--rcfile";
}

// "#!/bin/bash", "#! /usr/bin/env sh -e"
bool names_shell(std::string_view script) {
  if (!script.starts_with("#!")) return false;
  const auto words = split_blanks(script.substr(2, script.find('\n') - 2));
  return std::ranges::any_of(words, is_shell);
}

// "-c", "-lc": the next word is the program's text; 'e' of Perl and others.
bool is_text_option(const std::string& word, char letter) {
  return word.starts_with('-') && !word.starts_with("--") && word.ends_with(letter);
}

std::string unquoted(std::string_view word) {
  std::string bare;
  for (const char c : word)
    if (c != '"' && c != '\'') bare += c;
  return bare;
}

}  // namespace

bool is_python(std::string_view program) { return base_name(program).starts_with("python"); }

bool is_shell(std::string_view program) {
  return std::ranges::find(shells, base_name(program)) != shells.end();
}

bool starts_another(std::string_view program) {
  return std::ranges::find(starters, base_name(program)) != starters.end();
}

std::string render_script_start(const std::string& name) {
  return (name.ends_with(".py") ? "python3 " : "./") + quote_shell(name);
}

bool lacks_python_line(std::string_view path, std::string_view text) {
  return path.ends_with(".py") && !text.starts_with("#!") &&
         !text.starts_with(
             "\x7f"
             "ELF");
}

std::optional<std::size_t> find_script(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  const std::string_view name = base_name(command[0]);
  const bool python = is_python(name), evaluates = std::ranges::find(evaluators, name) != evaluators.end();
  if (!python && !evaluates && !is_shell(name)) return 0;
  const char text_option = evaluates ? 'e' : 'c';
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    const bool runs_script = python && word == "-m" && i + 1 < command.size() && command[i + 1] == "mpi4py";
    if (python && word == "-m" && !runs_script) return std::nullopt;
    if (word == "-" || is_text_option(word, text_option)) return std::nullopt;
    if (runs_script || takes_value(python, word)) {
      ++i;
    } else if (!word.starts_with('-')) {
      return i;
    }
  }
  return std::nullopt;
}

std::string_view find_shell_text(const std::vector<std::string>& command, std::string_view script) {
  if (command.empty()) return {};
  if (!is_shell(command[0])) return names_shell(script) ? script : std::string_view();
  if (find_script(command)) return script;
  const auto option = std::find_if(command.begin() + 1, command.end(),
                                   [](const auto& word) { return is_text_option(word, 'c'); });
  return command.end() - option > 1 ? std::string_view(*(option + 1)) : std::string_view();
}

std::vector<std::string> find_python_command(std::string_view shell_text) {
  for (const std::string_view line : split(shell_text, '\n')) {
    const auto words = split_blanks(line, " \t\r;&|()");
    for (std::size_t i = 0; i < words.size() && !words[i].starts_with('#'); ++i) {
      if (!is_python(unquoted(words[i]))) continue;
      std::vector<std::string> command;
      for (std::size_t j = i; j < words.size(); ++j) command.push_back(unquoted(words[j]));
      if (find_script(command)) return command;
    }
  }
  return {};
}

}  // namespace ddlrun
