// SPDX-License-Identifier: MIT
#include "doctor/diagnose/signature_texts.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::diagnose {

namespace {

constexpr std::array<std::string_view, 4> log_values{"{value}", "{path}", "{library}", "{script}"};

std::string_view log_value_at(std::string_view text) {
  for (const std::string_view value : log_values)
    if (text.starts_with(value)) return value;
  return {};
}

// `'a {value}'` -> `'a '{value}`: the quotes end before the value and begin again behind it.
std::string outside_quotes(std::string_view remedy) {
  std::string mended;
  char quote = ' ';
  for (std::size_t at = 0; at < remedy.size();) {
    const std::string_view value = log_value_at(remedy.substr(at));
    if (value.empty() || quote == ' ') {
      const char c = remedy[at];
      if (c == quote)
        quote = ' ';
      else if (quote == ' ' && (c == '\'' || c == '"'))
        quote = c;
      mended += c;
      ++at;
      continue;
    }
    // Nothing between the quote and the value: the quote goes.
    if (mended.ends_with(quote))
      mended.pop_back();
    else
      mended += quote;
    mended += value;
    at += value.size();
    if (at < remedy.size() && remedy[at] == quote) {
      quote = ' ';
      ++at;
    } else {
      mended += quote;
    }
  }
  return mended;
}

constexpr std::array<std::string_view, 11> any_texts{".*",   ".+",  "\\d+", "\\d*",   "\\d",   "\\s+",
                                                     "\\s*", "\\s", "\\w+", "[0-9]+", "[0-9]*"};

std::string plain_pattern(std::string_view pattern) {
  constexpr std::string_view any = "{*}";
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  const bool has_end = pattern.ends_with('$');
  if (has_end) pattern.remove_suffix(1);
  std::string plain;
  while (!pattern.empty()) {
    std::string_view found;
    for (const std::string_view one : any_texts)
      if (found.empty() && pattern.starts_with(one)) found = one;
    if (!found.empty()) {
      if (!plain.ends_with(any)) plain += any;
      pattern.remove_prefix(found.size());
      continue;
    }
    if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);  // "\\." is a point
    plain += pattern.front();
    pattern.remove_prefix(1);
  }
  if (plain.ends_with(any)) return plain.substr(0, plain.size() - any.size());
  return plain + (has_end && !plain.ends_with('}') ? "{end}" : "");
}

}  // namespace

ValueFault find_value_fault(std::string_view remedy) {
  char quote = ' ';
  for (std::size_t at = 0; at < remedy.size(); ++at) {
    const char c = remedy[at];
    if (quote == ' ' && c == '#' && (at == 0 || remedy[at - 1] == ' ')) return {};
    if (c == quote)
      quote = ' ';
    else if (quote == ' ' && (c == '\'' || c == '"'))
      quote = c;
    const std::string_view value = log_value_at(remedy.substr(at));
    if (value.empty()) continue;
    if (quote != ' ')
      return {fmt::format("{} stands within quotes; ddlrun quotes a value of the log itself", value),
              outside_quotes(remedy)};
    if (has(remedy.substr(0, at), "ssh "))
      return {fmt::format("{} stands behind ssh, whose shell reads a value of the log once more", value),
              fmt::format("COMMAND {}   # on {{host}}; without ssh before it", value)};
  }
  return {};
}

std::string regex_syntax_in(std::string_view pattern) {
  std::string found;
  const auto add = [&found](std::string_view one) {
    found += (found.empty() ? "" : ", ") + std::string(one);
  };
  if (pattern.starts_with('^')) add("^");
  for (const std::string_view one : {".*", ".+", "\\d", "\\s", "\\w", "[0-9]"})
    if (has(pattern, one)) add(one);
  if (pattern.size() > 1 && pattern.ends_with('$')) add("$");
  return found;
}

std::string plain_pattern_hint(std::string_view pattern) {
  const std::string plain = plain_pattern(pattern);
  std::string quoted;
  for (const char c : plain) quoted += c == '\'' ? "''" : std::string(1, c);
  if (!parse_line_pattern(plain) || trim(plain).empty())
    return "{*} for any text, {number} for a number, {end} for the end of the line";
  return fmt::format("match: '{}'   # {{*}} is any text, {{end}} the end of the line", quoted);
}

}  // namespace ddlrun::diagnose
