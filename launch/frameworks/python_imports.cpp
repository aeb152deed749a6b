// SPDX-License-Identifier: MIT
#include "launch/frameworks/python_imports.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <vector>

namespace ddlrun::frameworks {

namespace {

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// The end of the string that begins with the quote at `at`: behind its last quote. A plain string ends with
// its line at the latest.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string triple(3, quote);
  const bool is_triple = text.substr(at, 3) == triple;
  at += is_triple ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\') {
      at += 2;
    } else if (is_triple && text.substr(at, 3) == triple) {
      return at + 3;
    } else if (!is_triple && (text[at] == quote || text[at] == '\n')) {
      return at + (text[at] == quote ? 1 : 0);
    } else {
      ++at;
    }
  }
  return text.size();
}

struct CodeLine {
  int number = 0;
  std::string text;
};

// Logical lines: strings become a blank, comments vanish, brackets and a backslash join lines, ';' parts
// them.
std::vector<CodeLine> code_lines(std::string_view text) {
  std::vector<CodeLine> lines;
  CodeLine line{1, ""};
  int number = 1;
  int depth = 0;
  const auto end_line = [&] {
    if (!trim(line.text).empty()) lines.push_back(line);
    line.text.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (trim(line.text).empty()) line.number = number;
    if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '\'' || c == '"') {
      const std::size_t end = std::min(skip_string(text, at), text.size());
      for (; at < end; ++at) number += text[at] == '\n' ? 1 : 0;
      line.text += " \"\" ";
    } else if (c == '\\' && at + 1 < text.size() && text[at + 1] == '\n') {
      ++number;
      at += 2;
      line.text += ' ';
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (depth > 0 && (c == ')' || c == ']' || c == '}')) --depth;
      if (c == '\n') ++number;
      if ((c == '\n' && depth == 0) || c == ';') {
        end_line();
      } else {
        line.text += c == '\n' ? ' ' : c;
      }
      ++at;
    }
  }
  end_line();
  return lines;
}

// "a.b as c" -> "a.b"; what is no dotted name gives "".
std::string dotted_name(std::string_view text) {
  text = trim(text);
  std::size_t end = 0;
  while (end < text.size() && (is_word_byte(text[end]) || text[end] == '.')) ++end;
  return std::string(text.substr(0, end));
}

void take_import(std::string_view line, int number, PythonWords& words) {
  const auto add = [&](const std::string& name) {
    if (!name.empty()) words.imports.emplace(name, number);
  };
  if (line.starts_with("import ")) {
    for (const std::string_view module : split(line.substr(7), ',')) add(dotted_name(module));
    return;
  }
  const std::size_t import = line.find(" import ");
  if (!line.starts_with("from ") || import == std::string_view::npos) return;
  const std::string module = dotted_name(line.substr(5, import - 5));
  std::string_view names = trim(line.substr(import + 8));
  if (names.starts_with('(')) names.remove_prefix(1);
  for (const std::string_view word : split(names, ',')) {
    const std::string name = dotted_name(word);
    add(name.empty() ? module : module + "." + name);
  }
}

}  // namespace

int PythonWords::imports_module(std::string_view module) const {
  const std::string inside = std::string(module) + ".";
  int line = 0;
  for (const auto& [name, at] : imports) {
    if ((name == module || name.starts_with(inside)) && (line == 0 || at < line)) line = at;
  }
  return line;
}

int PythonWords::names_word(const std::string& word) const {
  const auto found = names.find(word);
  return found == names.end() ? 0 : found->second;
}

std::vector<std::string> imported_files(const PythonWords& words) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  };
  for (const auto& [import, line] : words.imports) {
    const std::string_view name =
        std::string_view(import).substr(std::min(import.find_first_not_of('.'), import.size()));
    const auto parts = split(name, '.');
    if (parts[0].empty()) continue;
    const std::string first(parts[0]);
    add(first + ".py");
    add(first + "/__init__.py");
    if (parts.size() > 1 && !parts[1].empty()) add(first + "/" + std::string(parts[1]) + ".py");
  }
  return files;
}

PythonWords read_python_words(std::string_view text) {
  PythonWords words;
  for (const CodeLine& line : code_lines(text.substr(0, most_script_bytes))) {
    take_import(trim(line.text), line.number, words);
    for (std::size_t at = 0; at < line.text.size();) {
      std::size_t end = at;
      while (end < line.text.size() && is_word_byte(line.text[end])) ++end;
      if (end > at) words.names.emplace(line.text.substr(at, end - at), line.number);
      at = end + 1;
    }
  }
  return words;
}

}  // namespace ddlrun::frameworks
