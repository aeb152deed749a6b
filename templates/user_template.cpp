// SPDX-License-Identifier: MIT
#include "templates/user_template.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::templates {

namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A word that bash reads back, of letters, digits and `$ ' \` only where it is not plain already: nothing in
// it can be expanded, wherever the placeholder stands.
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
  Filler(const std::string& file_name, const TemplateValues& values) : file_(file_name), values_(values) {}

  FilledTemplate fill(std::string_view text) {
    int number = 0;
    const auto lines = split(text, '\n');
    for (const std::string_view line : lines) {
      if (number > 0) result_.text += '\n';
      ++number;
      if (line.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos)
        add_error(number, 1, "a carriage return or a NUL byte", "lines that end as Unix files' do: dos2unix");
      fill_line(line, number);
    }
    return std::move(result_);
  }

 private:
  void add_error(int line, std::size_t column, std::string what, std::string hint) {
    result_.errors.push_back(
        {std::move(what), fmt::format("{}:{}:{}", file_, line, column), std::move(hint)});
  }

  void fill_line(std::string_view line, int number) {
    std::size_t at = 0;
    for (std::size_t open = line.find("{{"); open != std::string_view::npos; open = line.find("{{", at)) {
      result_.text += line.substr(at, open - at);
      const std::size_t close = line.find("}}", open);
      if (close == std::string_view::npos)
        return add_error(number, open + 1, "{{ without }} on the same line", "{{name|sh}}");
      fill_placeholder(line.substr(open + 2, close - open - 2), line, number, open + 1);
      at = close + 2;
    }
    result_.text += line.substr(at);
  }

  void fill_placeholder(std::string_view placeholder, std::string_view line, int number, std::size_t column) {
    const std::size_t bar = placeholder.find('|');
    const std::string name(trim(placeholder.substr(0, bar)));
    const std::string filter(bar == std::string_view::npos ? "" : trim(placeholder.substr(bar + 1)));
    result_.used.insert(name);
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
    if (filter == "sh") {
      std::string line;
      for (const std::string& word : words) {
        if (word.find('\0') != std::string::npos)
          return add_error(number, column, name + " holds a NUL byte", "a value without it");
        line += (line.empty() ? "" : " ") + inert_word(word);
      }
      result_.text += line;
      return;
    }
    if (words.empty())
      return add_error(number, column, fmt::format("the job says nothing about {}", name),
                       fmt::format("{}: ... in ddlrun.yaml, or the line without it", name));
    const bool number_wanted = filter == "int";
    const bool good = number_wanted ? parse_unsigned(words[0]).has_value() : is_directive_value(words[0]);
    if (words.size() == 1 && good) {
      result_.text += words[0];
      return;
    }
    const std::string shown = printable(words[0], 60) + (words.size() > 1 ? " ..." : "");
    add_error(
        number, column,
        number_wanted ? fmt::format("{} is no number but '{}'", name, shown)
                      : fmt::format("{}: '{}' cannot be in a directive", name, shown),
        number_wanted ? "sh, or a name that is a number: nodes" : "a value without blanks, quotes, # and $");
  }

  const std::string& file_;
  const TemplateValues& values_;
  FilledTemplate result_;
};

}  // namespace

FilledTemplate fill_template(std::string_view text, const std::string& file_name,
                             const TemplateValues& values) {
  return Filler(file_name, values).fill(text);
}

std::set<std::string> placeholder_names(std::string_view text) { return fill_template(text, "", {}).used; }

}  // namespace ddlrun::templates
