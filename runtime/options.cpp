// SPDX-License-Identifier: MIT
#include "runtime/options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t help_columns = 96;

Error usage(std::string what, std::string where, std::string hint) {
  return {ErrorKind::usage, {std::move(what), std::move(where), std::move(hint)}};
}

const Option& find_option(std::string_view program, const std::string& name, std::span<const Option> table) {
  std::vector<std::string> names;
  for (const Option& option : table) {
    if (!option.name.empty() && option.name == name) return option;
    if (!option.name.empty()) names.push_back(option.name);
  }
  const bool is_option = name.starts_with("-");
  const auto near = closest_match(name, names);
  throw usage(fmt::format("there is no {} '{}'{}", is_option ? "option" : "argument", printable(name),
                          near ? fmt::format("; did you mean {}?", *near) : ""),
              "command line",
              near ? fmt::format("{} {}", program, *near) : fmt::format("{} --help", program));
}

// `text` wrapped into the column that starts at `indent`.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (used != 0 && indent + used + 1 + word.size() > help_columns) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used != 0) out += ' ';
    out += word;
    used += word.size() + (used != 0 ? 1 : 0);
  }
  return out;
}

}  // namespace

void parse_options(std::string_view program, std::span<const std::string> words,
                   std::span<const Option> table) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    const Option& option = find_option(program, name, table);
    if (!seen.insert(name).second) {
      throw usage(fmt::format("{} is given 2 times, and 1 is allowed", name), "command line",
                  fmt::format("{} --help", program));
    }
    if (option.value.empty()) {
      if (equals != std::string::npos) {
        throw usage(
            fmt::format("{} takes no value, but has '{}'", name, printable(words[i].substr(equals + 1))),
            "command line", name);
      }
      option.apply("");
    } else if (equals != std::string::npos) {
      option.apply(words[i].substr(equals + 1));
    } else if (i + 1 < words.size()) {
      option.apply(words[++i]);
    } else {
      throw usage(fmt::format("{} needs a value ({})", name, option.value), "command line",
                  fmt::format("{} {}", name, option.value));
    }
  }
}

std::string render_options(std::span<const Option> table) {
  std::size_t width = 0;
  for (const Option& option : table) width = std::max(width, option.name.size() + 1 + option.value.size());
  std::string out;
  for (const Option& option : table) {
    if (option.name.empty()) {
      out += fmt::format("\n{}\n", option.help);
      continue;
    }
    const std::string left = option.value.empty() ? option.name : option.name + " " + option.value;
    out += fmt::format("  {:<{}}  {}\n", left, width, wrap(option.help, width + 4));
  }
  return out;
}

std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  const auto value = parse_unsigned(text, most);
  if (value && *value >= least) return *value;
  throw usage(fmt::format("'{}' is not a whole number from {} to {}", printable(text), least, most), option,
              fmt::format("{} {}", option, std::max<std::uint64_t>(least, 1)));
}

double parse_real(const std::string& option, const std::string& text, double least, double most) {
  const auto value = parse_number(text);
  if (value && *value >= least && *value <= most) return *value;
  throw usage(fmt::format("'{}' is not a number from {} to {}", printable(text), least, most), option,
              fmt::format("{} 0.01", option));
}

std::size_t parse_choice(const std::string& option, const std::string& text,
                         std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto near = closest_match(text, names);
  throw usage(fmt::format("'{}' is none of {}{}", printable(text), join(names, ", "),
                          near ? fmt::format("; did you mean {}?", *near) : ""),
              option, fmt::format("{} {}", option, near ? *near : names[0]));
}

}  // namespace ddlrun::runtime
