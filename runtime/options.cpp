// SPDX-License-Identifier: MIT
#include "runtime/options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t help_columns = 96;
constexpr std::size_t longest_line_shown = 12;  // words

Error usage(std::string what, std::string where, std::string hint) {
  return {ErrorKind::usage, {std::move(what), std::move(where), std::move(hint)}};
}

// The command with `name` in place of the name in word `index`; of a long one only that option.
std::string render_mended(std::string_view program, std::span<const std::string> words, std::size_t index,
                          const Option& meant) {
  std::vector<std::string> mended(words.begin(), words.end());
  const std::size_t equals = mended[index].find('=');
  mended[index] = meant.name + (equals == std::string::npos ? "" : mended[index].substr(equals));
  if (mended.size() <= longest_line_shown) return fmt::format("{} {}", program, render_shell(mended));
  const bool has_value = !meant.value.empty() && equals == std::string::npos && index + 1 < mended.size();
  const std::span<const std::string> shown = std::span(mended).subspan(index, has_value ? 2 : 1);
  return fmt::format("{}   # in place of {}", render_shell(shown), printable(words[index]));
}

const Option& find_option(std::string_view program, const std::string& name,
                          std::span<const std::string> words, std::size_t index,
                          std::span<const Option> table) {
  std::vector<std::string> names;
  for (const Option& option : table) {
    if (!option.name.empty() && option.name == name) return option;
    if (!option.name.empty()) names.push_back(option.name);
  }
  const bool is_option = name.starts_with("-");
  const auto near = closest_match(name, names);
  const auto meant =
      std::find_if(table.begin(), table.end(), [&](const Option& o) { return o.name == near; });
  throw usage(fmt::format("there is no {} '{}'{}", is_option ? "option" : "argument", printable(name),
                          near ? fmt::format("; did you mean {}?", *near) : ""),
              "command line",
              near ? render_mended(program, words, index, *meant) : fmt::format("{} --help", program));
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

Error refuse_twice(const std::string& name, const std::string& first, const std::string& second) {
  const std::string kept = second.empty() ? name : fmt::format("{} {}", name, quote_shell(second));
  return usage(second.empty() ? fmt::format("{} is given 2 times, and 1 is allowed", name)
                              : fmt::format("{} is given 2 times, as '{}' and as '{}', and 1 is allowed",
                                            name, printable(first, 60), printable(second, 60)),
               "command line",
               second.empty() ? kept + "   # once"
                              : fmt::format("{}   # and take {} {} out", kept, name, printable(first, 60)));
}

}  // namespace

void parse_options(std::string_view program, std::span<const std::string> words,
                   std::span<const Option> table) {
  std::map<std::string, std::string> seen;  // with its value
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i] == "-h" ? "--help" : words[i].substr(0, equals);
    const Option& option = find_option(program, name, words, i, table);
    std::string value;
    if (equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (!option.value.empty() && i + 1 < words.size()) {
      value = words[i + 1];
    }
    const auto [before, is_first] = seen.emplace(name, value);
    if (!is_first) throw refuse_twice(name, before->second, value);
    if (option.value.empty()) {
      if (equals != std::string::npos) {
        throw usage(fmt::format("{} takes no value, but has '{}'", name, printable(value)), "command line",
                    name);
      }
      option.apply("");
    } else if (equals != std::string::npos) {
      option.apply(value);
    } else if (i + 1 < words.size()) {
      option.apply(value);
      ++i;
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

double parse_real(const std::string& option, const std::string& text, double least, double most,
                  std::string_view example) {
  const auto value = parse_number(text);
  if (value && *value >= least && *value <= most) return *value;
  const std::string nearest = fmt::format("{:.6g}", std::clamp(value.value_or(0.01), least, most));
  throw usage(fmt::format("'{}' is not a number from {} to {}", printable(text), least, most), option,
              fmt::format("{} {}", option, example.empty() ? nearest : std::string(example)));
}

double parse_share(const std::string& option, const std::string& text, std::string_view example) {
  const auto value = parse_number(text);
  if (value && *value >= 0.0 && *value < 1.0) return *value;
  throw usage(fmt::format("'{}' is not a number from 0 up to, but not, 1", printable(text)), option,
              fmt::format("{} {}", option, example));
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
