// SPDX-License-Identifier: MIT
#include "templates/template_shell.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::templates {

namespace {

bool starts_command(std::string_view before) {
  const std::string_view text = trim(before);
  if (text.empty() || std::string_view(";&|({!").find(text.back()) != std::string_view::npos) return true;
  const std::string_view word = text.substr(text.find_last_of(" \t;&|({") + 1);
  return before.back() != text.back() && (word == "then" || word == "do" || word == "else");
}

// The end of the placeholders without words that are all the arguments of a command; npos where it has
// others.
std::size_t end_of_no_arguments(std::string_view line, std::size_t at) {
  std::size_t end = at;
  bool any = false;
  while (true) {
    const std::size_t next = line.find_first_not_of(" \t", at);
    if (next == std::string_view::npos || line[next] != no_words || next == at) break;
    at = end = line.find_first_not_of(no_words, next);
    any = true;
    if (end == std::string_view::npos) return line.size();
  }
  const std::size_t next = line.find_first_not_of(" \t", end);
  const bool is_end =
      next == std::string_view::npos || std::string_view(";&|)}#").find(line[next]) != std::string_view::npos;
  return any && is_end ? end : std::string_view::npos;
}

}  // namespace

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string inert_word(std::string_view word) {
  const auto is_plain = [](char c) {
    return is_alnum(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string text = "$'";
  for (const char c : word) {
    if (is_alnum(c) || c == '_' || c == ' ')
      text += c;
    else
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return text + "'";
}

std::string inert_word(std::string_view word, const std::vector<ShellPattern>& patterns) {
  std::string text;
  std::size_t plain = 0;  // where the part begins that no pattern has taken
  const auto add_plain = [&](std::size_t end) {
    if (end > plain) text += inert_word(word.substr(plain, end - plain));
  };
  for (std::size_t at = 0; at < word.size();) {
    const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const ShellPattern& one) {
      return word.substr(at).starts_with(one.pattern);
    });
    if (found == patterns.end()) {
      ++at;
      continue;
    }
    add_plain(at);
    text += "\"${" + found->variable + "}\"";
    at += found->pattern.size();
    plain = at;
  }
  if (word.empty()) return inert_word(word);
  add_plain(word.size());
  return text;
}

// `export` alone prints the whole environment, `conda activate` alone activates another one: they become `:`.
std::string settle_bare_commands(std::string line, bool continues) {
  constexpr std::array commands{"export", "declare -x", "module load", "module add", "conda activate"};
  for (const std::string_view command : commands) {
    for (std::size_t at = line.find(command); at != std::string::npos; at = line.find(command, at + 1)) {
      const std::string_view before = std::string_view(line).substr(0, at);
      if (!starts_command(before) || (continues && trim(before).empty())) continue;
      const std::size_t end = end_of_no_arguments(line, at + command.size());
      if (end != std::string_view::npos) line.replace(at, end - at, ":");
    }
  }
  std::erase(line, no_words);
  return line;
}

}  // namespace ddlrun::templates
