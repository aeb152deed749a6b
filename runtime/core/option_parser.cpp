// SPDX-License-Identifier: MIT
#include "runtime/core/option_parser.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t help_columns = 96;
constexpr std::size_t widest_name = 26;  // columns; the help of a longer one starts on the next line
constexpr std::size_t longest_command_shown = 12;  // arguments

bool has_suggestion(std::string_view what) { return what.find("; did you mean ") != what.npos; }

Error usage(std::string what, std::string where, std::string hint) {
  return {ErrorKind::usage, {std::move(what), std::move(where), std::move(hint)}};
}

// `value`, or the value of `meant` that is nearly the same: resnet-18 for resnet18.
std::string corrected_value(const Option& meant, const std::string& value) {
  try {
    meant.apply(value);
  } catch (const Error& error) {
    const std::string& hint = error.message().hint;
    if (has_suggestion(error.message().what) && hint.starts_with(meant.name + " "))
      return hint.substr(meant.name.size() + 1);
  }
  return value;
}

// The command with the right name in argument `index`; only that option if the command is long.
std::string render_corrected(std::string_view program, std::span<const std::string> args, std::size_t index,
                             const Option& meant) {
  std::vector<std::string> corrected(args.begin(), args.end());
  const std::size_t equals = corrected[index].find('=');
  const bool has_value = !meant.value.empty() && equals == std::string::npos && index + 1 < corrected.size();
  corrected[index] = meant.name;
  if (equals != std::string::npos)
    corrected[index] += "=" + corrected_value(meant, args[index].substr(equals + 1));
  if (has_value) corrected[index + 1] = corrected_value(meant, args[index + 1]);
  if (corrected.size() <= longest_command_shown)
    return fmt::format("{} {}", program, render_shell(corrected));
  const std::span<const std::string> shown = std::span(corrected).subspan(index, has_value ? 2 : 1);
  return fmt::format("{}   # instead of {}", render_shell(shown), printable(args[index]));
}

// Words of other trainers for an option of ours, which differ too much for a comparison of letters.
struct OtherWord {
  std::string_view theirs, ours;
};
constexpr OtherWord other_words[] = {
    {"--arch", "--net"},
    {"--flip", "--mirror"},
    {"--hflip", "--mirror"},
    {"--horizontal-flip", "--mirror"},
    {"--image-size", "--resize"},
    {"--img-size", "--resize"},
    {"--learning-rate", "--lr"},
    {"--lr-policy", "--lr-decay"},
    {"--lr-schedule", "--lr-decay"},
    {"--lr-scheduler", "--lr-decay"},
    {"--model", "--net"},
    {"--num-workers", "--data-threads"},
    {"--output-dir", "--checkpoint"},
    {"--save-dir", "--checkpoint"},
    {"--scheduler", "--lr-decay"},
    {"--val-data", "--test-data"},
    {"--validation-data", "--test-data"},
    {"--wd", "--weight-decay"},
    {"--workers", "--data-threads"},
};

std::optional<std::string> find_meant(const std::string& name, std::span<const std::string> names) {
  for (const OtherWord& word : other_words) {
    if (name == word.theirs && std::ranges::find(names, word.ours) != names.end())
      return std::string(word.ours);
  }
  return closest_match(name, names);
}

const Option& find_option(std::string_view program, const std::string& name,
                          std::span<const std::string> args, std::size_t index,
                          std::span<const Option> table) {
  std::vector<std::string> names;
  for (const Option& option : table) {
    if (!option.name.empty() && option.name == name) return option;
    if (!option.name.empty()) names.push_back(option.name);
  }
  const bool is_option = name.starts_with("-");
  const auto near = find_meant(name, names);
  const auto meant =
      std::find_if(table.begin(), table.end(), [&](const Option& o) { return o.name == near; });
  throw usage(fmt::format("unknown {} '{}'{}", is_option ? "option" : "argument", printable(name),
                          near ? fmt::format("; did you mean {}?", *near) : ""),
              "command line",
              near ? render_corrected(program, args, index, *meant) : fmt::format("{} --help", program));
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
  return usage(second.empty() ? fmt::format("{} is given twice", name)
                              : fmt::format("{} is given twice, as '{}' and as '{}'", name,
                                            printable(first, 60), printable(second, 60)),
               "command line",
               second.empty() ? kept + "   # once"
                              : fmt::format("{}   # and remove {} {}", kept, name, printable(first, 60)));
}

}  // namespace

void parse_options(std::string_view program, std::span<const std::string> args,
                   std::span<const Option> table) {
  std::map<std::string, std::string> seen;  // with its value
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t equals = args[i].starts_with("--") ? args[i].find('=') : std::string::npos;
    const std::string name = args[i] == "-h" ? "--help" : args[i].substr(0, equals);
    const Option& option = find_option(program, name, args, i, table);
    std::string value;
    if (equals != std::string::npos) {
      value = args[i].substr(equals + 1);
    } else if (!option.value.empty() && i + 1 < args.size()) {
      value = args[i + 1];
    }
    const auto [before, is_first] = seen.emplace(name, value);
    if (!is_first) throw refuse_twice(name, before->second, value);
    if (option.value.empty()) {
      if (equals != std::string::npos) {
        throw usage(fmt::format("{} takes no value, but was given '{}'", name, printable(value)),
                    "command line", name);
      }
      option.apply("");
    } else if (equals != std::string::npos) {
      option.apply(value);
    } else if (i + 1 < args.size()) {
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
  for (const Option& option : table) {
    const std::size_t length = option.name.size() + 1 + option.value.size();
    if (length <= widest_name) width = std::max(width, length);
  }
  std::string out;
  for (const Option& option : table) {
    if (option.name.empty()) {
      out += fmt::format("\n{}\n", option.help);
      continue;
    }
    const std::string left = option.value.empty() ? option.name : option.name + " " + option.value;
    const std::string gap =
        left.size() > width ? "\n" + std::string(width + 4, ' ') : std::string(width + 2 - left.size(), ' ');
    out += fmt::format("  {}{}{}\n", left, gap, wrap(option.help, width + 4));
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

double parse_fraction(const std::string& option, const std::string& text, std::string_view example) {
  const auto value = parse_number(text);
  if (value && *value >= 0.0 && *value < 1.0) return *value;
  throw usage(fmt::format("'{}' is not a number of at least 0 and less than 1", printable(text)), option,
              fmt::format("{} {}", option, example));
}

std::size_t parse_choice(const std::string& option, const std::string& text,
                         std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto near = closest_match(text, names);
  throw usage(fmt::format("unknown value '{}': must be one of {}{}", printable(text), join(names, ", "),
                          near ? fmt::format("; did you mean {}?", *near) : ""),
              option, fmt::format("{} {}", option, near ? *near : names[0]));
}

}  // namespace ddlrun::runtime
