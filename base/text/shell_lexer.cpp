// SPDX-License-Identifier: MIT
#include "base/text/shell_lexer.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
bool is_name_begin(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_name_begin(c) || (c >= '0' && c <= '9'); }

namespace {

bool is_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || !is_name_begin(text[0])) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), is_name);
}

constexpr std::array<std::string_view, 14> keywords{"if",    "then",  "else", "elif", "fi", "do",   "done",
                                                    "while", "until", "!",    "{",    "}",  "time", "esac"};

// Reads words and operators from left to right; each function leaves `at_` behind what it took.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}
  std::vector<ShellCommand> cut();

 private:
  bool done() const { return at_ >= text_.size(); }
  char here() const { return text_[at_]; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  void take_quoted(ShellWord& word, char quote);
  void take_substitution(ShellWord& word);
  ShellWord take_word();
  bool take_array(ShellWord& word);
  bool take_redirection();
  void take_operator();
  void place_word(ShellWord word);
  void end_command();

  std::string_view text_;
  std::size_t at_ = 0;
  bool arrays_end_ = true;  // false behind an array without its end: it is not looked for again
  ShellCommand current_;
  std::vector<ShellCommand> commands_;
};

void Cutter::take_quoted(ShellWord& word, char quote) {
  word.quoted = true;
  ++at_;
  while (!done() && here() != quote) {
    if (quote == '"' && here() == '\\' && at_ + 1 < text_.size() &&
        std::string_view("\"\\$`").find(next()) != std::string_view::npos)
      ++at_;
    word.text += text_[at_++];
  }
  if (!done()) ++at_;
}

// "$(...)", "${...}" and backquotes, as one piece of text.
void Cutter::take_substitution(ShellWord& word) {
  const char open = here() == '`' ? '`' : next();
  const char close = open == '(' ? ')' : open == '{' ? '}' : '`';
  const std::size_t begin = at_;
  at_ += open == '`' ? 1 : 2;
  int depth = 1;
  while (!done() && depth > 0) {
    if (here() == '\\') {
      ++at_;
    } else if (here() == close) {
      --depth;
    } else if (here() == open) {
      ++depth;
    }
    if (!done()) ++at_;
  }
  at_ = std::min(at_, text_.size());
  word.text += text_.substr(begin, at_ - begin);
}

ShellWord Cutter::take_word() {
  ShellWord word;
  word.at = at_;
  while (!done() && !is_blank(here()) && here() != '\n' &&
         std::string_view(";&|<>()").find(here()) == std::string_view::npos) {
    if (here() == '\'' || here() == '"') {
      take_quoted(word, here());
    } else if (here() == '\\') {
      word.quoted = true;
      if (++at_ < text_.size()) word.text += text_[at_++];
    } else if (here() == '`' || (here() == '$' && (next() == '(' || next() == '{'))) {
      word.bare_variable = true;
      take_substitution(word);
    } else {
      word.bare_variable = word.bare_variable || (here() == '$' && is_name(next()));
      word.text += text_[at_++];
    }
  }
  const bool may_be_array = !done() && here() == '(' && !word.quoted && word.text.ends_with('=') &&
                            (is_assignment(word.text) || word.text.ends_with("+="));
  if (may_be_array && arrays_end_) arrays_end_ = take_array(word);
  word.end = at_;
  return word;
}

// "(a 'b c' $(d))" behind NAME=, into the word. False, and nothing is taken, where the text has no end of it.
bool Cutter::take_array(ShellWord& word) {
  const std::size_t begin = at_;
  ShellWord element;
  int depth = 0;
  bool in_word = false;
  do {
    const char c = here();
    if (c == '\'' || c == '"') {
      take_quoted(element, c);
    } else if (c == '`' || (c == '$' && (next() == '(' || next() == '{'))) {
      take_substitution(element);
    } else if (c == '#' && !in_word) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      if (c == '(') ++depth;
      if (c == ')') --depth;
      at_ = std::min(at_ + (c == '\\' ? 2 : 1), text_.size());
    }
    in_word = !is_blank(c) && c != '\n' && c != '(';
  } while (depth > 0 && !done());
  if (depth > 0) {
    at_ = begin;
    return false;
  }
  word.text = text_.substr(word.at, at_ - word.at);
  return true;
}

// "2>&1", ">> file", "<<EOF": out of the words.
bool Cutter::take_redirection() {
  std::size_t from = at_;
  while (from < text_.size() && text_[from] >= '0' && text_[from] <= '9') ++from;
  if (from < text_.size() && text_[from] == '&' && from + 1 < text_.size() && text_[from + 1] == '>') ++from;
  if (from >= text_.size() || (text_[from] != '<' && text_[from] != '>')) return false;
  const std::size_t begin = from;
  while (from < text_.size() && std::string_view("<>&|-").find(text_[from]) != std::string_view::npos) ++from;
  const std::string_view sign = text_.substr(begin, from - begin);
  at_ = from;
  while (!done() && is_blank(here())) ++at_;
  ShellWord target = take_word();
  if (sign == "<<" || sign == "<<-") current_.here_ends.push_back(target.text);
  current_.redirections.push_back(std::move(target));
  return true;
}

void Cutter::end_command() {
  if (!current_.words.empty() || !current_.assignments.empty() || !current_.keywords.empty() ||
      !current_.redirections.empty())
    commands_.push_back(std::move(current_));
  current_ = ShellCommand();
}

void Cutter::take_operator() {
  const char c = here();
  const bool twice = next() == c;
  at_ += twice && (c == '&' || c == '|' || c == ';') ? 2 : 1;
  if (c == '(' || c == ')') {
    end_command();
    current_.keywords.emplace_back(1, c);
    return;
  }
  if (!twice && c == '&') current_.background = true;
  if (!twice && c == '|') current_.piped = true;
  end_command();
}

void Cutter::place_word(ShellWord word) {
  const bool at_head = current_.words.empty();
  if (at_head && !word.quoted && current_.assignments.empty() &&
      std::find(keywords.begin(), keywords.end(), word.text) != keywords.end()) {
    current_.keywords.push_back(word.text);
  } else if (is_assignment(word.text) && (at_head || current_.sets_variables())) {
    current_.assignments.push_back(std::move(word));
  } else {
    current_.words.push_back(std::move(word));
  }
}

std::vector<ShellCommand> Cutter::cut() {
  while (!done()) {
    if (is_blank(here())) {
      ++at_;
    } else if (here() == '#') {
      while (!done() && here() != '\n') ++at_;
    } else if (here() == '\n') {
      ++at_;
      end_command();
    } else if (take_redirection()) {
    } else if (std::string_view(";&|()").find(here()) != std::string_view::npos) {
      take_operator();
    } else {
      place_word(take_word());
    }
  }
  end_command();
  return std::move(commands_);
}

}  // namespace

bool ShellCommand::sets_variables() const {
  const std::string word = name();
  return word == "export" || word == "declare" || word == "typeset" || word == "readonly" || word == "local";
}

std::vector<std::string> ShellCommand::texts() const {
  std::vector<std::string> all;
  for (const ShellWord& word : words) all.push_back(word.text);
  return all;
}

std::string ShellCommand::base_name() const { return std::string(ddlrun::base_name(name())); }

void ShellCommand::drop_wrappers() {
  static constexpr std::array<std::string_view, 9> wrappers{"exec", "nohup",  "command", "env",    "time",
                                                            "nice", "stdbuf", "setsid",  "timeout"};
  // "-k", "A=B", "10" of nice, "1.5h" or "$LIMIT" of timeout
  const auto is_argument = [](std::string_view wrapper, std::string_view word) {
    const bool is_number = word[0] >= '0' && word[0] <= '9' &&
                           word.find_first_not_of("0123456789.smhd") == std::string_view::npos;
    return word[0] == '-' || word.find('=') != std::string_view::npos || is_number ||
           (wrapper == "timeout" && word[0] == '$');
  };
  std::size_t i = 0;
  while (i < words.size() && std::ranges::find(wrappers, words[i].text) != wrappers.end()) {
    const std::string& wrapper = words[i].text;
    std::size_t next = i + 1;
    while (next < words.size() && !words[next].text.empty() && is_argument(wrapper, words[next].text)) ++next;
    const bool only_looks_up = wrapper == "command" && i + 1 < next && to_lower(words[i + 1].text) == "-v";
    if (only_looks_up) break;
    i = next;
  }
  if (i < words.size()) words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
}

std::vector<ShellCommand> parse_commands(const ScriptLine& line) {
  if (line.here_text) return {};
  return Cutter(line.text).cut();
}

std::vector<std::size_t> find_expansions(std::string_view written) {
  std::vector<std::size_t> places;
  bool in_double = false;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '\\') {
      ++i;
    } else if (written[i] == '"') {
      in_double = !in_double;
    } else if (written[i] == '\'' && !in_double) {
      i = std::min(written.find('\'', i + 1), written.size());
    } else if (written[i] == '$') {
      places.push_back(i);
    }
  }
  return places;
}

bool shell_expands(std::string_view written, std::string_view variable) {
  return std::ranges::any_of(find_expansions(written),
                             [&](std::size_t at) { return written.substr(at).starts_with(variable); });
}

}  // namespace ddlrun
