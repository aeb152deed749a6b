// SPDX-License-Identifier: MIT
#include "base/text/completion.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun {

namespace {

constexpr std::size_t longest_help = 100;  // characters

const OptionReference* find_option(const CommandReference& command, std::string_view name) {
  for (const OptionReference& option : command.options)
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return &option;
  return nullptr;
}

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._:/@%+=,-").find(c) != std::string_view::npos;
}

// What the words before the one that is being typed mean.
struct TypedLine {
  const OptionReference* waiting = nullptr;  // an option that lacks a value
  std::size_t arguments = 0;
  std::set<const OptionReference*> given;
  std::size_t program = 0;  // the place behind "--"
};

TypedLine read_typed(const CommandReference& command, std::span<const std::string> before) {
  TypedLine line;
  int missing = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string& word = before[i];
    if (missing > 0) {
      --missing;
    } else if (word == "--") {
      line.program = i + 1;
      return line;
    } else if (word.size() > 1 && word[0] == '-') {
      const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      const OptionReference* option = find_option(command, word.substr(0, equals));
      if (option == nullptr) continue;
      line.given.insert(option);
      missing = option->values - (equals == std::string::npos ? 0 : 1);
      line.waiting = option;
    } else {
      ++line.arguments;
    }
  }
  if (missing <= 0) line.waiting = nullptr;
  return line;
}

void add_option_names(const CommandReference& command, const TypedLine& line, std::string_view typed,
                      Completion& completion) {
  const bool wants_long = typed.starts_with("--");
  std::vector<Candidate> all;
  for (const OptionReference& option : command.options) {
    if (line.given.contains(&option) && !option.repeatable) continue;
    for (const std::string& name : option.names)
      if (name.starts_with("--") || !wants_long) all.push_back({name, option.help});
  }
  if (command.takes_program) all.push_back({"--", "the program follows"});
  completion.candidates = select_candidates(all, typed);
}

// `typed` behind "--option=", if any.
void add_values(const OptionReference& option, std::string_view prefix, std::string_view typed,
                const CandidateSource& source, Completion& completion) {
  std::vector<Candidate> all;
  for (const std::string& choice : option.choices) all.push_back({choice});
  if (option.source == "files" || option.source == "directories") {
    completion.kind = option.source;
    completion.file_prefix = prefix;
  } else if (!option.source.empty()) {
    for (Candidate& candidate : source(option.source)) all.push_back(std::move(candidate));
  }
  // A value with commas goes on behind the last one. Names of hosts may also be "h1:4".
  const bool is_list = option.value == "LIST" || option.value == "IDS" || option.value == "METHODS" ||
                       option.source == "hosts";
  const std::size_t comma = is_list ? typed.rfind(',') : std::string_view::npos;
  const std::size_t from = comma == std::string_view::npos ? 0 : comma + 1;
  completion.is_open = is_list;
  const std::string before = std::string(prefix) + std::string(typed.substr(0, from));
  if (!std::all_of(before.begin(), before.end(), is_safe)) return;
  const auto listed = split(typed.substr(0, from), ',');
  std::erase_if(all, [&](const Candidate& candidate) {
    return std::find(listed.begin(), listed.end(), candidate.word) != listed.end();
  });
  for (Candidate& candidate : select_candidates(all, typed.substr(from)))
    completion.candidates.push_back({before + candidate.word, std::move(candidate.help)});
}

}  // namespace

std::vector<Candidate> select_candidates(const std::vector<Candidate>& candidates, std::string_view typed) {
  std::vector<Candidate> selected;
  std::set<std::string_view> seen;
  for (const Candidate& candidate : candidates) {
    const bool is_word = std::all_of(candidate.word.begin(), candidate.word.end(), is_safe);
    if (!candidate.word.empty() && is_word && candidate.word.starts_with(typed) &&
        seen.insert(candidate.word).second)
      selected.push_back(candidate);
  }
  return selected;
}

Completion complete_command(const CommandReference& command, std::span<const std::string> words,
                            const CandidateSource& source) {
  Completion completion;
  if (words.empty()) return completion;
  const std::string& typed = words.back();
  const TypedLine line = read_typed(command, words.first(words.size() - 1));
  if (line.program > 0) {
    completion.kind = command.takes_program ? "program" : "words";
    completion.program = line.program;
  } else if (line.waiting != nullptr) {
    add_values(*line.waiting, "", typed, source, completion);
  } else if (typed.starts_with("--") && typed.find('=') != std::string::npos) {
    const std::size_t value = typed.find('=') + 1;
    const OptionReference* option = find_option(command, typed.substr(0, value - 1));
    if (option != nullptr && option->values > 0)
      add_values(*option, typed.substr(0, value), typed.substr(value), source, completion);
  } else if (typed.starts_with('-')) {
    add_option_names(command, line, typed, completion);
  } else if (!command.arguments.empty()) {
    const std::size_t last = command.arguments.size() - 1;
    if (line.arguments <= last || command.arguments[last].repeatable)
      add_values(command.arguments[std::min(line.arguments, last)], "", typed, source, completion);
  }
  return completion;
}

std::string render_completion(const Completion& completion) {
  std::string text = ":" + completion.kind;
  if (completion.kind == "program") text += fmt::format(" {} {}", completion.program, completion.implied);
  text.resize(text.find_last_not_of(' ') + 1);
  if (completion.is_open) text += " open";
  if (!completion.file_prefix.empty()) text += " " + completion.file_prefix;
  text += "\n";
  for (const Candidate& candidate : completion.candidates) {
    text += candidate.word;
    if (!candidate.help.empty()) text += "\t" + printable(candidate.help, longest_help);
    text += "\n";
  }
  return text;
}

}  // namespace ddlrun
