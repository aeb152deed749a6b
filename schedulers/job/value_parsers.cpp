// SPDX-License-Identifier: MIT
// The grammars of single values. A name that passes can stand in any directive and shell word.
#include "base/text/text.hpp"
#include "schedulers/job/setting_reader.hpp"

namespace ddlrun::schedulers {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view digits = "0123456789";

struct Grammar {
  std::string_view first, more;  // besides letters and digits
  bool digit_first;
  std::size_t longest;
  std::string_view allowed;
};

const Grammar& grammar_of(NameKind kind) {
  static constexpr Grammar job{"", "._+-", true, 64,
                               "letters, digits and . _ + -, a letter or digit first, at most 64"};
  static constexpr Grammar plain{"_", "._-", true, 64,
                                 "letters, digits and . _ - (but no . or - first), at most 64"};
  static constexpr Grammar module{"", "._+/@:=-", true, 128,
                                  "one module's name: letters, digits and . _ + / @ : = -, at most 128"};
  static constexpr Grammar resource{"([", "._&|*()[],:=-", true, 200,
                                    "letters, digits and . _ & | * ( ) [ ] , : = -, at most 200"};
  static constexpr Grammar variable{"_", "_", false, 200, "letters, digits and _, no digit first"};
  static constexpr Grammar job_id{"", "._[]-", true, 200, "a job's id as the scheduler prints it"};
  switch (kind) {
    case NameKind::job:
      return job;
    case NameKind::plain:
      return plain;
    case NameKind::module:
      return module;
    case NameKind::resource:
      return resource;
    case NameKind::variable:
      return variable;
    case NameKind::job_id:
      return job_id;
  }
  return plain;
}

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// What bash would do something with, outside of quotes.
constexpr std::string_view active = "$`;|&<>()*?[";

class WordSplitter {
 public:
  explicit WordSplitter(std::string_view line) : line_(line) {}

  ShellWords split() {
    for (at_ = 0; at_ < line_.size() && result_.error.empty(); ++at_) take(line_[at_]);
    if (result_.error.empty() && quote_ != 0) fail(std::string("a quote (") + quote_ + ") that does not end");
    end_word();
    if (!result_.error.empty()) result_.words.clear();
    return std::move(result_);
  }

 private:
  void take(char c) {
    if (quote_ == '\'') {
      c == quote_ ? leave() : add(c);
    } else if (quote_ == '"') {
      take_in_double_quotes(c);
    } else if (c == ' ' || c == '\t' || c == '\n') {
      end_word();
    } else if (c == '\'' || c == '"') {
      quote_ = c;
      in_word_ = true;
    } else if (c == '\\') {
      escape();
    } else if (is_one_of(c, active) || (!in_word_ && (c == '~' || c == '#'))) {
      fail(std::string("'") + c + "' is the shell's, and no shell reads this line");
    } else {
      add(c);
    }
  }
  void take_in_double_quotes(char c) {
    if (c == '"') return leave();
    if (c == '$' || c == '`')
      return fail(std::string("'") + c + "' is the shell's, and no shell reads this line");
    const bool escaped = c == '\\' && at_ + 1 < line_.size() && is_one_of(line_[at_ + 1], "\"\\$`");
    if (escaped) ++at_;
    add(line_[at_]);
  }
  void escape() {
    if (at_ + 1 == line_.size()) return fail("a \\ at the end");
    ++at_;
    if (line_[at_] != '\n') add(line_[at_]);
  }
  void leave() { quote_ = 0; }
  void add(char c) {
    word_ += c;
    in_word_ = true;
  }
  void end_word() {
    if (in_word_) result_.words.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }
  void fail(std::string why) {
    if (result_.error.empty()) result_.error = std::move(why);
  }

  std::string_view line_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false;
  std::string word_;
  ShellWords result_;
};

}  // namespace

bool is_name(NameKind kind, std::string_view text) {
  const Grammar& grammar = grammar_of(kind);
  if (text.empty() || text.size() > grammar.longest) return false;
  const char first = text.front();
  if (!is_one_of(first, letters) && !(grammar.digit_first && is_one_of(first, digits)) &&
      !is_one_of(first, grammar.first)) {
    return false;
  }
  for (const char c : text) {
    if (!is_one_of(c, letters) && !is_one_of(c, digits) && !is_one_of(c, grammar.more)) return false;
  }
  return true;
}

std::string_view alphabet_of(NameKind kind) { return grammar_of(kind).allowed; }

std::optional<std::uint64_t> parse_memory(std::string_view text) {
  const std::size_t end = text.find_first_not_of(digits);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const auto number = parse_unsigned(text.substr(0, end));
  std::string_view unit = text.substr(end);
  constexpr std::string_view units = "KMGT";
  const char letter = static_cast<char>(unit.front() >= 'a' ? unit.front() - 32 : unit.front());
  const std::size_t power = units.find(letter);
  unit.remove_prefix(1);
  const bool known = unit.empty() || unit == "B" || unit == "b" || unit == "iB";
  if (!number || *number == 0 || power == std::string_view::npos || !known) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (*number > (std::uint64_t{1} << 62) >> shift) return std::nullopt;
  return *number << shift;
}

ShellWords split_shell_words(std::string_view line) { return WordSplitter(line).split(); }

}  // namespace ddlrun::schedulers
