// SPDX-License-Identifier: MIT
#include "schedulers/scripts/convert_body.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace ddlrun::job_scripts {

namespace {

std::size_t name_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_name(text[at])) ++at;
  return at;
}

// Names of the family that stand without a '$': "os.environ['PBS_JOBID']".
void report_plain_names(const ScriptLine& line, std::string_view prefix, BodyChange& change) {
  const std::string_view text = line.text;
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string_view::npos;) {
    const std::size_t end = name_end(text, at);
    const bool inside = at > 0 && (is_name(text[at - 1]) || text[at - 1] == '$' || text[at - 1] == '{');
    const bool assigned =
        end < text.size() && text[end] == '=' && (end + 1 >= text.size() || text[end + 1] != '=');
    if (!inside && !assigned && end > at + prefix.size())
      change.unsupported.push_back(
          {place_in(line, at).line, std::string(text.substr(at, end - at)),
           "a variable of the other scheduler, named without a '$': change it by hand"});
    at = end;
  }
}

}  // namespace

std::vector<VariableUse> find_variables(const ScriptLine& line) {
  std::vector<VariableUse> uses;
  const std::string_view text = line.text;
  char quote = 0;
  int arithmetic = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_comment =
        c == '#' && quote == 0 && !line.here_text && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t');
    if (is_comment) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (c == '\\' && quote != '\'') {
      ++i;
    } else if (!line.here_text && (c == '\'' || c == '"') && (quote == 0 || quote == c)) {
      quote = quote == 0 ? c : '\0';
    } else if (c == '(' && i + 1 < text.size() && text[i + 1] == '(') {
      ++arithmetic;
      ++i;
    } else if (c == ')' && arithmetic > 0 && i + 1 < text.size() && text[i + 1] == ')') {
      --arithmetic;
      ++i;
    } else if (c == '$' && i + 1 < text.size()) {
      const bool braces = text[i + 1] == '{';
      const std::size_t begin = i + (braces ? 2 : 1);
      if (begin >= text.size() || !is_name_begin(text[begin])) continue;
      const std::size_t end = name_end(text, begin);
      uses.push_back({std::string(text.substr(begin, end - begin)), i, begin, braces,
                      quote == 0 && arithmetic == 0 && !line.here_text});
      i = end - 1;
    }
  }
  return uses;
}

Edit edit_at(const ScriptLine& line, std::size_t at, std::size_t length, std::string text) {
  const Place place = place_in(line, at);
  return {place.line, static_cast<std::size_t>(place.column - 1), length, std::move(text)};
}

std::vector<std::string> apply_edits(std::vector<std::string> lines, std::vector<Edit> edits) {
  // From the right; where two overlap the larger one holds.
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::tuple(a.line, b.at, b.length) < std::tuple(b.line, a.at, a.length);
  });
  std::vector<Edit> kept;
  for (Edit& edit : edits) {
    const auto overlaps = [&edit](const Edit& other) {
      return other.line == edit.line && edit.at < other.at + other.length && other.at < edit.at + edit.length;
    };
    while (!kept.empty() && overlaps(kept.back()) && kept.back().length < edit.length) kept.pop_back();
    if (kept.empty() || !overlaps(kept.back())) kept.push_back(std::move(edit));
  }
  // Each line is put together once, from the left.
  for (auto edit = kept.rbegin(); edit != kept.rend();) {
    const int number = edit->line;
    std::string* const line = number >= 1 && static_cast<std::size_t>(number) <= lines.size()
                                  ? &lines[static_cast<std::size_t>(number) - 1]
                                  : nullptr;
    std::string mended;
    std::size_t taken = 0;
    for (; edit != kept.rend() && edit->line == number; ++edit) {
      if (line == nullptr || edit->at < taken || edit->at > line->size()) continue;
      mended.append(*line, taken, edit->at - taken);
      mended += edit->text;
      taken = std::min(line->size(), edit->at + edit->length);
    }
    if (line == nullptr) continue;
    mended.append(*line, taken, std::string::npos);
    *line = std::move(mended);
  }
  return lines;
}

void rename_variables(const JobScript& script, const std::map<std::string, std::string>& names,
                      std::string_view prefix, BodyChange& change) {
  for (const ScriptLine& line : script.body) {
    for (const VariableUse& use : find_variables(line)) {
      const auto found = names.find(use.name);
      const bool family = std::string_view(use.name).starts_with(prefix);
      if (found == names.end() && !family) continue;
      const std::string& name = found == names.end() ? use.name : found->second;
      if (found == names.end()) change.kept_names.insert(use.name);
      const std::size_t end = use.name_at + use.name.size();
      if (!use.braces && use.bare) {
        change.edits.push_back(edit_at(line, use.at, end - use.at, fmt::format("\"${}\"", name)));
      } else if (name != use.name) {
        change.edits.push_back(edit_at(line, use.name_at, use.name.size(), name));
      }
    }
    report_plain_names(line, prefix, change);
  }
}

std::vector<ShellCommand> nested_commands(const ShellCommand& command) {
  // Each is read from its "$(" to the word's end: more would cost the square of the word's length.
  constexpr int most_nested = 50;
  static constexpr std::array<std::string_view, 6> runners{"trap", "eval", "sh", "bash", "ksh", "zsh"};
  const bool runs_words = std::find(runners.begin(), runners.end(), command.base_name()) != runners.end();
  std::vector<ShellCommand> found;
  const auto add = [&found](std::string_view text) {
    ScriptLine line;
    line.text = std::string(text);
    for (ShellCommand& inner : parse_commands(line)) found.push_back(std::move(inner));
  };
  const auto add_word = [&](const ShellWord& word) {
    const std::string_view text = word.text;
    if (runs_words && word.quoted && text.find(' ') != std::string_view::npos) add(text);
    int count = 0;
    for (std::size_t at = 0; (at = text.find("$(", at)) != std::string_view::npos && count < most_nested;
         at += 2)
      if (++count; text.substr(at, 3) != "$((") add(text.substr(at + 2, text.rfind(')') - at - 2));
    const std::size_t tick = text.find('`');
    if (tick != std::string_view::npos) add(text.substr(tick + 1, text.find('`', tick + 1) - tick - 1));
  };
  for (const ShellWord& word : command.words) add_word(word);
  for (const ShellWord& word : command.assignments) add_word(word);
  return found;
}

void mend_damage(const JobScript& script, BodyChange& change) {
  for (const ScriptLine& line : script.body) {
    if (!line.damaged) continue;
    for (int number = line.line; number <= line.last_line; ++number) {
      const std::string& text = script.lines[static_cast<std::size_t>(number) - 1];
      const std::string_view tail = damaged_tail(text);
      if (tail.empty()) continue;
      const std::size_t at = text.size() - tail.size();
      const bool blank = at > 0 && text[at - 1] == ' ';
      const bool last = number == line.last_line;
      change.edits.push_back({number, at, tail.size(), last ? "" : blank ? "\\" : " \\"});
      change.unsupported.push_back(
          {number, std::string(tail), "left by a web page, read as the backslash that continues the line"});
    }
  }
}

}  // namespace ddlrun::job_scripts
