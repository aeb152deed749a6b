// SPDX-License-Identifier: MIT
#include "cli/option_values.hpp"

#include "base/text/colour.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::cli {

std::uint64_t parse_limit_option(const std::string& text) {
  const auto limit = parse_unsigned(text, 1'000'000);
  if (limit) return *limit;
  throw Error(ErrorKind::usage, {fmt::format("--limit must be a number, not '{}'", printable(text, 40)), "",
                                 "--limit 20; --limit 0 shows all"});
}

std::int64_t parse_age_option(const std::string& option, const std::string& text) {
  const auto age = parse_age(text);
  if (age) return *age;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not an age", printable(text, 40)), option,
                                 option + " 90d   # m, h, d or w"});
}

std::string coloured_report(const Environment& environment, std::string text) {
  return environment.wants_colour(environment.stdout_is_terminal) ? colour_messages(text) : text;
}

}  // namespace ddlrun::cli
