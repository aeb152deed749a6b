// SPDX-License-Identifier: MIT
#include "templates/user_template.hpp"

#include "base/text/text.hpp"
#include "templates/template_shell.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::templates {

namespace {

bool is_directive_value(std::string_view text) {
  if (text.empty() || text[0] == '-' || text.size() > 1024) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_alnum(c) || std::string_view("._+@%:/=,^[]()&|*-").find(c) != std::string_view::npos;
  });
}

const std::vector<std::string>& filter_names() {
  static const std::vector<std::string> names{"sh", "int", "sbatch", "pbs"};
  return names;
}

// "" if `filter` may stand on this line, else why not.
std::string misplaced(std::string_view filter, std::string_view line) {
  const bool sbatch = line.starts_with("#SBATCH"), pbs = line.starts_with("#PBS");
  if (filter == "sh" && (sbatch || pbs)) return "sh quotes for bash, and a directive is not read by it";
  if (filter == "sbatch" && !sbatch) return "sbatch is for lines that begin with #SBATCH";
  if (filter == "pbs" && !pbs) return "pbs is for lines that begin with #PBS";
  return "";
}

class Filler {
 public:
  Filler(const std::string& file_name, const TemplateValues& values, const TemplateRules& rules)
      : file_(file_name), values_(values), rules_(rules) {}

  FilledTemplate fill(std::string_view text) {
    int number = 0;
    bool continues = false;  // the line before ends with a backslash
    std::vector<std::string> filled;
    for (const std::string_view line : split(text, '\n')) {
      ++number;
      line_ = {};
      if (line.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos)
        add_error(number, 1, "a carriage return or a NUL byte", "lines that end as Unix files' do: dos2unix");
      fill_line(line, number);
      if (!is_left_out(line)) {
        result_.errors.insert(result_.errors.end(), line_.lacks.begin(), line_.lacks.end());
        filled.push_back(settle_bare_commands(std::move(line_.text), continues));
      }
      continues = line.ends_with('\\');
    }
    result_.text = join(filled, "\n");
    return std::move(result_);
  }

 private:
  struct Line {
    std::string text;
    std::size_t placeholders = 0, optional = 0;  // optional: those of optional names without a value
    std::vector<Message> lacks;                  // a directive's values that the job does not have
  };

  bool is_left_out(std::string_view line) const {
    const bool is_directive = line.starts_with("#SBATCH") || line.starts_with("#PBS");
    return is_directive && line_.placeholders > 0 && line_.optional == line_.placeholders;
  }

  void add_error(int line, std::size_t column, std::string what, std::string hint) {
    result_.errors.push_back(
        {std::move(what), fmt::format("{}:{}:{}", file_, line, column), std::move(hint)});
  }

  void fill_line(std::string_view line, int number) {
    std::size_t at = 0;
    for (std::size_t open = line.find("{{"); open != std::string_view::npos; open = line.find("{{", at)) {
      line_.text += line.substr(at, open - at);
      const std::size_t close = line.find("}}", open);
      if (close == std::string_view::npos)
        return add_error(number, open + 1, "{{ without }} on the same line", "{{name|sh}}");
      fill_placeholder(line.substr(open + 2, close - open - 2), line, number, open + 1);
      at = close + 2;
    }
    line_.text += line.substr(at);
  }

  void fill_placeholder(std::string_view placeholder, std::string_view line, int number, std::size_t column) {
    const std::size_t bar = placeholder.find('|');
    const std::string name(trim(placeholder.substr(0, bar)));
    const std::string filter(bar == std::string_view::npos ? "" : trim(placeholder.substr(bar + 1)));
    result_.used.insert(name);
    (filter == "sh" ? result_.shell : result_.directives).insert(name);
    ++line_.placeholders;
    const auto found = values_.find(name);
    if (found == values_.end()) return unknown_name(name, number, column);
    const auto& filters = filter_names();
    if (std::find(filters.begin(), filters.end(), filter) == filters.end())
      return unknown_filter(name, filter, number, column);
    const std::string why = misplaced(filter, line);
    if (!why.empty())
      return add_error(number, column, fmt::format("{{{{{}|{}}}}}: {}", name, filter, why), "another filter");
    write(name, filter, found->second, number, column);
  }

  void unknown_name(const std::string& name, int number, std::size_t column) {
    std::vector<std::string> names;
    for (const auto& [known, value] : values_) names.push_back(known);
    const auto near = closest_match(name, names);
    add_error(number, column, fmt::format("a job has no '{}'", printable(name, 60)),
              near ? fmt::format("{{{{{}|...}}}}", *near) : "one of " + join(names, ", "));
  }

  void unknown_filter(const std::string& name, const std::string& filter, int number, std::size_t column) {
    const auto near = closest_match(filter, filter_names());
    add_error(number, column,
              filter.empty() ? fmt::format("{{{{{}}}}} has no filter", name)
                             : fmt::format("unknown filter '{}'", printable(filter, 40)),
              fmt::format("{{{{{}|{}}}}}: sh, int, sbatch or pbs", name, near ? *near : "sh"));
  }

  void write(const std::string& name, const std::string& filter, const std::vector<std::string>& words,
             int number, std::size_t column) {
    if (filter == "sh") return write_words(name, words, number, column);
    if (words.empty()) return write_nothing(name, filter, number, column);
    const bool number_wanted = filter == "int";
    const bool good = number_wanted ? parse_unsigned(words[0]).has_value() : is_directive_value(words[0]);
    if (words.size() == 1 && good) {
      line_.text += words[0];
      return;
    }
    const std::string shown = printable(words[0], 60) + (words.size() > 1 ? " ..." : "");
    add_error(
        number, column,
        number_wanted ? fmt::format("{} is no number but '{}'", name, shown)
                      : fmt::format("{}: '{}' cannot be in a directive", name, shown),
        number_wanted ? "sh, or a name that is a number: nodes" : "a value without blanks, quotes, # and $");
  }

  void write_words(const std::string& name, const std::vector<std::string>& words, int number,
                   std::size_t column) {
    const auto patterns = rules_.patterns.find(name);
    std::string text;
    for (const std::string& word : words) {
      if (word.find('\0') != std::string::npos)
        return add_error(number, column, name + " holds a NUL byte", "a value without it");
      text += (text.empty() ? "" : " ") +
              (patterns == rules_.patterns.end() ? inert_word(word) : inert_word(word, patterns->second));
    }
    line_.text += words.empty() ? std::string(1, no_words) : text;
  }

  void write_nothing(const std::string& name, const std::string& filter, int number, std::size_t column) {
    const bool optional = rules_.optional.contains(name);
    if (optional) ++line_.optional;
    line_.lacks.push_back(
        {fmt::format("the job says nothing about {}", name), fmt::format("{}:{}:{}", file_, number, column),
         optional
             ? fmt::format("a line of its own for {{{{{}|{}}}}}: it is left out of such a job", name, filter)
             : fmt::format("{}: ... in ddlrun.yaml, or the line without it", name)});
  }

  const std::string& file_;
  const TemplateValues& values_;
  const TemplateRules& rules_;
  Line line_;
  FilledTemplate result_;
};

}  // namespace

FilledTemplate fill_template(std::string_view text, const std::string& file_name,
                             const TemplateValues& values, const TemplateRules& rules) {
  return Filler(file_name, values, rules).fill(text);
}

std::set<std::string> placeholder_names(std::string_view text) { return fill_template(text, "", {}).used; }

}  // namespace ddlrun::templates
