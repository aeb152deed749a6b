// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"

#include "base/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace ddlrun {

namespace {

constexpr std::size_t shortest_part = 4;  // of a name that is completed: "--lr"

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

bool is_shell_safe(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

}  // namespace

// Damerau-Levenshtein distance (adjacent swaps count once) over three rolling rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text, std::uint64_t max) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (UINT64_MAX - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  if (value > max) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

std::vector<std::string_view> split_blanks(std::string_view text, std::string_view blanks) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words.begin(), words.end(), separator));
}

std::string join_first(std::span<const std::string> words, std::size_t most, std::string_view separator) {
  const std::size_t shown = std::min(words.size(), most);
  std::string text = join(words.first(shown), separator);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return text.starts_with(one); });
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return starts_with_any(text, std::span(beginnings.begin(), beginnings.size()));
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string count_of(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string quote_shell(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_shell_safe)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::vector<std::string> env_without(std::span<const std::string> names) {
  std::vector<std::string> words;
  if (!names.empty()) words.emplace_back("env");
  for (const std::string& name : names) words.insert(words.end(), {"-u", name});
  return words;
}

std::string render_shell(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += quote_shell(word);
  }
  return line;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    const std::size_t length = printable_length(text.substr(at));
    if (length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else
      shown += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return at < text.size() ? shown + "..." : shown;
}

std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    const std::size_t allowed = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= allowed && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best || word.size() < shortest_part) return best;
  const auto contains = [&](const std::string& candidate) {
    return candidate.find(word) != std::string::npos;
  };
  const auto first = std::ranges::find_if(candidates, contains);
  const bool unique = first != candidates.end() && std::none_of(std::next(first), candidates.end(), contains);
  return unique ? std::optional(*first) : std::nullopt;
}

std::string render_ranges(std::span<const int> ascending, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += separator;
    text += std::to_string(ascending[i]);
    if (last > i) text += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<int>> parse_ranges(std::string_view text, int max) {
  std::vector<int> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_unsigned(part.substr(0, dash), static_cast<std::uint64_t>(max));
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_unsigned(part.substr(dash + 1), static_cast<std::uint64_t>(max));
    if (!first || !last || *last < *first) return std::nullopt;
    if (!numbers.empty() && static_cast<int>(*first) <= numbers.back()) return std::nullopt;
    for (auto n = *first; n <= *last; ++n) numbers.push_back(static_cast<int>(n));
  }
  return numbers;
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] != '*') {
    return !name.empty() && pattern[0] == name[0] && matches_pattern(pattern.substr(1), name.substr(1));
  }
  while (pattern.starts_with("**")) pattern.remove_prefix(1);
  for (std::size_t skip = 0; skip <= name.size(); ++skip) {
    if (matches_pattern(pattern.substr(1), name.substr(skip))) return true;
  }
  return false;
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) && (end == text.size() || !is_word_byte(text[end])))
      return at;
  }
  return std::string_view::npos;
}

std::string replace_word(std::string text, std::string_view word, std::string_view by) {
  for (std::size_t at = find_word(text, word); at != std::string::npos;
       at = find_word(text, word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

std::string render_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t divisor = 1;
  while (unit + 1 < units.size() && bytes / divisor >= 1024) {
    divisor *= 1024;
    ++unit;
  }
  if (bytes % divisor == 0) return fmt::format("{} {}", bytes / divisor, units[unit]);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(divisor), units[unit]);
}

std::optional<std::int64_t> parse_age(std::string_view text) {
  constexpr std::pair<char, std::int64_t> units[] = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
  constexpr std::uint64_t longest = 1'000'000;
  if (text.empty()) return std::nullopt;
  const auto number = parse_unsigned(text.substr(0, text.size() - 1), longest);
  for (const auto& [letter, seconds] : units)
    if (number && letter == text.back()) return static_cast<std::int64_t>(*number) * seconds;
  return std::nullopt;
}

}  // namespace ddlrun
