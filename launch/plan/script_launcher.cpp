// SPDX-License-Identifier: MIT
#include "launch/plan/script_launcher.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_script_bytes = 64 * 1024;

// What may stand before the command of a line: "if", "OMP_NUM_THREADS=4", "exec".
bool precedes_command(std::string_view word) {
  static constexpr std::array<std::string_view, 11> words{"exec", "time", "env", "nohup", "if",   "then",
                                                          "else", "do",   "!",   "{",     "while"};
  const std::size_t equals = word.find('=');
  const bool assigns = equals != word.npos && equals > 0 && !word.starts_with('-') &&
                       word.substr(0, equals).find('/') == word.npos;
  return assigns || std::ranges::find(words, word) != words.end();
}

struct PlacedCommand {
  std::size_t line = 1;
  Command words;  // without quotes and redirections
};

// The simple commands of a shell text. Comments, here-documents, arrays, the patterns of `case` and what
// stands in $(...) are left out. Of quoted text nothing begins a command.
class CommandScanner {
 public:
  explicit CommandScanner(std::string_view text) : text_(text) {}

  std::vector<PlacedCommand> scan() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const char c = peek();
    if (c == '\\' && peek(1) == '\n') {
      ++line_;
      at_ += 2;
    } else if (c == '\\') {
      add(peek(1));
      at_ += 2;
    } else if (c == '\'' || c == '"') {
      take_quoted(c);
    } else if (c == '#' && !in_word_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '$' && peek(1) == '(') {
      in_word_ = true;
      ++at_;
      skip_parentheses();
    } else if (c == '(' && word_.ends_with('=')) {
      skip_parentheses();
    } else if (c == '<' && peek(1) == '<' && peek(2) != '<') {
      take_here_word();
    } else if (c == '<' || c == '>') {
      end_word();
      skips_word_ = true;
      while (peek() == '<' || peek() == '>' || peek() == '&') ++at_;
    } else if (c == '\n') {
      end_command();
      ++at_;
      ++line_;
      skip_here_documents();
    } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      end_word();
      if (c == ')' && command_.words.size() == 1) command_.words.clear();  // a pattern of `case`
      end_command();
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else {
      add(c);
      ++at_;
    }
  }

  void add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void take_quoted(char quote) {
    in_word_ = true;
    for (++at_; at_ < text_.size() && peek() != quote; ++at_) {
      if (peek() == '\n') ++line_;
      if (quote == '"' && peek() == '\\') ++at_;
      if (at_ < text_.size()) word_ += peek();
    }
    ++at_;
  }

  void skip_parentheses() {
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '\n') ++line_;
      if (peek() == '(') ++depth;
      if (peek() == ')' && --depth == 0) break;
    }
    ++at_;
  }

  void take_here_word() {
    end_word();
    at_ += peek(2) == '-' ? 3 : 2;
    while (peek() == ' ') ++at_;
    std::string word;
    for (; at_ < text_.size() && std::string_view(" \t\n;|&<>)").find(peek()) == std::string_view::npos;
         ++at_)
      if (peek() != '\'' && peek() != '"' && peek() != '\\') word += peek();
    here_words_.push_back(word);
  }

  void skip_here_documents() {
    for (const std::string& word : std::exchange(here_words_, {})) {
      while (at_ < text_.size()) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view line = trim(text_.substr(at_, end - at_));
        at_ = std::min(end + 1, text_.size());
        ++line_;
        if (line == word) break;
      }
    }
  }

  void end_word() {
    const bool is_descriptor = (peek() == '<' || peek() == '>') && !word_.empty() &&
                               word_.find_first_not_of("0123456789") == std::string::npos;
    if (in_word_ && !skips_word_ && !is_descriptor) {
      if (command_.words.empty()) command_.line = line_;
      if (!command_.words.empty() || !precedes_command(word_)) command_.words.push_back(word_);
    }
    if (in_word_) skips_word_ = false;
    word_.clear();
    in_word_ = false;
  }

  void end_command() {
    end_word();
    skips_word_ = false;
    if (!command_.words.empty()) commands_.push_back(std::exchange(command_, {}));
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  std::string word_;
  bool in_word_ = false, skips_word_ = false;
  PlacedCommand command_;
  std::vector<std::string> here_words_;
  std::vector<PlacedCommand> commands_;
};

std::string read_shell_script(System& system, const std::string& path) {
  try {
    const auto part = system.files.read_from(path, 0, most_script_bytes);
    return part ? part->bytes : std::string();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ScriptLauncher find_launcher_in_script(std::string_view text, std::size_t ranks, std::size_t hosts) {
  if (text.find("DDLRUN_") != text.npos) return {};  // it tests where it runs
  for (PlacedCommand& command : CommandScanner(text).scan()) {
    const auto nested = frameworks::find_nested_launcher(command.words);
    if (nested && !nested->program.empty() && !(nested->stays_on_host && ranks <= hosts))
      return {command.line, std::move(command.words)};
  }
  return {};
}

std::string remark_on_script(System& system, const Command& program, const std::string& workdir,
                             std::size_t ranks, std::size_t hosts) {
  if (program.empty() || ranks < 2) return {};
  std::string path, script;
  if (const auto at = find_script(program)) {
    const bool is_path = *at != 0 || program[0].find('/') != std::string::npos;
    path = is_path ? program[*at] : find_program(system, program[0]);
    if (!path.empty())
      script = read_shell_script(system, path.starts_with('/') ? path : workdir + "/" + path);
  }
  const ScriptLauncher found = find_launcher_in_script(find_shell_text(program, script), ranks, hosts);
  if (found.line == 0) return {};
  const std::string place = script.empty() ? "the text of " + std::string(base_name(program[0])) + " -c"
                                           : fmt::format("{} line {}", printable(path, 100), found.line);
  const auto nested = frameworks::find_nested_launcher(found.words);
  return fmt::format(
      "warning: {} runs {}, which starts ranks itself: each of {} ranks runs it; put the program alone "
      "after --: {}",
      place, nested->name, ranks, printable(render_shell(nested->program), 200));
}

}  // namespace ddlrun::launch
