// SPDX-License-Identifier: MIT
// A small option parser: one table gives the parsing, the did-you-mean and the help text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// `value`: placeholder for the help, "" for a flag. `apply` receives the value ("" for a flag) and throws
// Error(usage) if it is wrong. An empty `name` makes the row a section heading with the text in `help`.
struct Option {
  std::string name;
  std::string value;
  std::string help;
  std::function<void(const std::string&)> apply;
};

// Where the command line was typed: hints repeat it corrected, or name only the option that is to change. The
// line that starts ranks begins with words of a launcher, which the program does not know.
enum class TypedAt { program, launcher };

// "--name value" and "--name=value"; each option at most once; -h is --help. Throws Error(usage).
void parse_options(std::string_view program, std::span<const std::string> args, std::span<const Option> table,
                   TypedAt typed = TypedAt::program);

// The rows as aligned text, at most 100 columns.
std::string render_options(std::span<const Option> table);

// Values. Each throws Error(usage) that names the option and the legal range.
std::uint64_t parse_count(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);
// `example`: a valid value for the hint; "": the nearest valid one.
double parse_real(const std::string& option, const std::string& text, double least, double most,
                  std::string_view example = "");
// At least 0 and less than 1.
double parse_fraction(const std::string& option, const std::string& text, std::string_view example);
// Returns the index in `names`.
std::size_t parse_choice(const std::string& option, const std::string& text,
                         std::span<const std::string> names);

}  // namespace ddlrun::runtime
