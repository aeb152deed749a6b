// SPDX-License-Identifier: MIT
#include "runtime/core/option_parser.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/other_words.hpp"

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

// An unknown word of a command line.
struct UnknownWord {
  std::string_view program;
  std::span<const std::string> args;
  std::size_t index;
  TypedAt typed;

  bool has_equals() const {
    return args[index].starts_with("--") && args[index].find('=') != std::string::npos;
  }
  bool has_next() const { return index + 1 < args.size() && !args[index + 1].starts_with("--"); }
  // What was typed behind it, unless that is another option.
  std::optional<std::string> value() const {
    if (has_equals()) return args[index].substr(args[index].find('=') + 1);
    return has_next() ? std::optional(args[index + 1]) : std::nullopt;
  }
};

// The option that was meant; "" as `value`: with the value that was typed.
struct MeantOption {
  const Option& option;
  std::string value = {};
};

// The command with the right option; only that option if the command is long, or a launcher's.
std::string render_corrected(const UnknownWord& word, const MeantOption& meant) {
  const Option& option = meant.option;
  std::vector<std::string> own{option.name};
  std::size_t next = word.index + 1;
  const bool takes_next =
      !word.has_equals() && word.has_next() && (!option.value.empty() || !meant.value.empty());
  if (!meant.value.empty()) {
    own.push_back(meant.value);
  } else if (word.has_equals() && !option.value.empty()) {
    own[0] += "=" + corrected_value(option, *word.value());
  } else if (takes_next) {
    own.push_back(corrected_value(option, *word.value()));
  }
  if (takes_next) ++next;
  std::vector<std::string> all(word.args.begin(),
                               word.args.begin() + static_cast<std::ptrdiff_t>(word.index));
  all.insert(all.end(), own.begin(), own.end());
  all.insert(all.end(), word.args.begin() + static_cast<std::ptrdiff_t>(next), word.args.end());
  if (word.typed == TypedAt::program && all.size() <= longest_command_shown)
    return fmt::format("{} {}", word.program, render_shell(all));
  return fmt::format("{}   # instead of {}", render_shell(own), printable(word.args[word.index]));
}

// Whether the option takes the value that was typed, or one that is nearly the same.
bool fits(const Option& option, const std::optional<std::string>& value) {
  if (option.value.empty() || !value) return true;
  try {
    option.apply(*value);
  } catch (const Error& error) {
    return has_suggestion(error.message().what);
  }
  return true;
}

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

std::optional<MeantOption> find_meant(const UnknownWord& word, const std::string& name,
                                      std::span<const Option> table) {
  const auto row = [&](std::string_view ours) { return std::ranges::find(table, ours, &Option::name); };
  const std::string plain = with_dashes(name);
  if (row(plain) != table.end()) return MeantOption{*row(plain)};
  for (const OtherWord& other : other_words()) {
    if (plain != other.theirs || row(other.ours) == table.end()) continue;
    if (!other.value.empty()) return MeantOption{*row(other.ours), std::string(other.value)};
    if (fits(*row(other.ours), word.value())) return MeantOption{*row(other.ours)};
  }
  std::vector<std::string> names;
  for (const Option& option : table)
    if (!option.name.empty() && fits(option, word.value())) names.push_back(option.name);
  const auto near = closest_match(name, names);
  return near ? std::optional(MeantOption{*row(*near)}) : std::nullopt;
}

const Option& find_option(std::string_view program, const std::string& name,
                          std::span<const std::string> args, std::size_t index, std::span<const Option> table,
                          TypedAt at) {
  const auto found = std::ranges::find(table, name, &Option::name);
  if (!name.empty() && found != table.end()) return *found;
  const std::string typed =
      fmt::format("unknown {} '{}'", name.starts_with("-") ? "option" : "argument", printable(name));
  if (const MissingOption* missing = find_missing_option(with_dashes(name)))
    throw usage(fmt::format("{}: {}", typed, missing->fact), "command line", std::string(missing->hint));
  const UnknownWord word{program, args, index, at};
  const bool has_subcommand = program.find(' ') != program.npos;  // launch starts none of those
  if (!has_subcommand && is_launch_option(with_dashes(name))) {
    std::vector<std::string> own{name};
    if (const auto value = word.value()) own.push_back(*value);
    throw usage(fmt::format("{}: it is an option of ddlrun launch, and stands before --", typed),
                "command line", fmt::format("ddlrun launch DIMS {} -- OPTIONS", render_shell(own)));
  }
  const auto meant = find_meant(word, name, table);
  if (!meant) throw usage(typed, "command line", fmt::format("{} --help", program));
  const std::string value = meant->value.empty() ? "" : " " + meant->value;
  throw usage(fmt::format("{}; did you mean {}{}?", typed, meant->option.name, value), "command line",
              render_corrected(word, *meant));
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

void parse_options(std::string_view program, std::span<const std::string> args, std::span<const Option> table,
                   TypedAt typed) {
  std::map<std::string, std::string> seen;  // with its value
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t equals = args[i].starts_with("--") ? args[i].find('=') : std::string::npos;
    const std::string name = args[i] == "-h" ? "--help" : args[i].substr(0, equals);
    const Option& option = find_option(program, name, args, i, table, typed);
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
