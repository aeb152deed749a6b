// SPDX-License-Identifier: MIT
#include "base/text/host_list.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace ddlrun {

namespace {

constexpr std::string_view example = "node[01-04,7]-ib, h1,h2 or @hosts.txt";

[[noreturn]] void refuse_list(std::string_view list, std::size_t column, std::string what,
                              ErrorKind kind = ErrorKind::usage) {
  throw Error(kind,
              {std::move(what), fmt::format("host list '{}', column {}", printable(list, 60), column + 1),
               std::string(example)});
}

struct Range {
  std::uint64_t first = 0, last = 0;
  std::size_t width = 0;  // zero padding of the first number
};

// One name of the list, cut into fixed texts and bracket groups: texts[0] groups[0] texts[1] groups[1] ...
struct Pattern {
  std::vector<std::string> texts;
  std::vector<std::vector<Range>> groups;
};

Range parse_range(std::string_view list, std::size_t column, std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : text.substr(dash + 1);
  const auto from = parse_unsigned(first, UINT64_MAX / 2);
  const auto to = parse_unsigned(last, UINT64_MAX / 2);
  if (!from || !to)
    refuse_list(list, column, fmt::format("'{}' is not a range of numbers", printable(text, 40)));
  if (*to < *from) refuse_list(list, column, fmt::format("range {}-{} descends", *from, *to));
  return {*from, *to, first.size() > 1 && first[0] == '0' ? first.size() : 0};
}

Pattern parse_pattern(std::string_view list, std::size_t column, std::string_view word) {
  Pattern pattern;
  std::size_t begin = 0;
  while (true) {
    const std::size_t open = word.find('[', begin);
    pattern.texts.emplace_back(word.substr(begin, open - begin));
    if (pattern.texts.back().find(']') != std::string::npos) {
      refuse_list(list, column + begin, "']' without '['");
    }
    if (open == std::string_view::npos) return pattern;
    const std::size_t close = word.find(']', open);
    if (close == std::string_view::npos) refuse_list(list, column + open, "'[' without ']'");
    if (pattern.groups.size() == 2) refuse_list(list, column + open, "more than 2 bracket groups in a name");
    std::vector<Range> ranges;
    for (const auto part : split(word.substr(open + 1, close - open - 1), ',')) {
      ranges.push_back(parse_range(list, column + open, part));
    }
    pattern.groups.push_back(std::move(ranges));
    begin = close + 1;
  }
}

// How many names a pattern stands for, saturating: no expansion may start before this is known.
std::uint64_t count_names(const Pattern& pattern) {
  std::uint64_t product = 1;
  for (const auto& group : pattern.groups) {
    std::uint64_t sum = 0;
    for (const Range& range : group) {
      const std::uint64_t size = range.last - range.first + 1;
      sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
    }
    if (sum != 0 && product > UINT64_MAX / sum) return UINT64_MAX;
    product *= sum;
  }
  return product;
}

void append_names(const Pattern& pattern, std::size_t group, const std::string& prefix,
                  std::vector<std::string>& names) {
  const std::string start = prefix + pattern.texts[group];
  if (group == pattern.groups.size()) {
    names.push_back(start);
    return;
  }
  for (const Range& range : pattern.groups[group]) {
    for (std::uint64_t n = range.first; n <= range.last; ++n) {
      std::string digits = std::to_string(n);
      if (digits.size() < range.width) digits.insert(0, range.width - digits.size(), '0');
      append_names(pattern, group + 1, start + digits, names);
    }
  }
}

// The end of the word that begins at `begin`: the next comma outside brackets.
std::size_t find_word_end(std::string_view list, std::size_t begin) {
  bool inside = false;
  for (std::size_t i = begin; i < list.size(); ++i) {
    if (list[i] == '[') inside = true;
    if (list[i] == ']') inside = false;
    if (list[i] == ',' && !inside) return i;
  }
  return list.size();
}

// "ann@" of "ann@h1"; "" without a user and a host.
std::string_view user_of(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos || at == 0 || !is_host_name(name.substr(at + 1))) return {};
  return name.substr(0, at + 1);
}

// A list has hosts alone: every program that starts ranks reads the user from ssh's configuration.
Message describe_user(std::string_view name, std::string place, const std::vector<std::string>& hosts) {
  constexpr std::size_t most_named = 32;
  const std::string_view user = user_of(name);
  const std::string names = hosts.size() <= most_named ? join(hosts, " ") : "NAMES";
  return {fmt::format("'{}' has a user: write the host alone", printable(name, 60)), std::move(place),
          fmt::format("printf '%s\\n' {} {} >> ~/.ssh/config   # then: {}", quote_shell("Host " + names),
                      quote_shell(fmt::format("  User {}", printable(user.substr(0, user.size() - 1), 60))),
                      fold_host_list(hosts))};
}

// The hosts of `user` in a list, as they are without it.
std::vector<std::string> hosts_of_user(std::string_view list, std::string_view user) {
  std::string bare;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = find_word_end(list, begin);
    const std::string_view word = list.substr(begin, end - begin);
    if (word.starts_with(user))
      bare += fmt::format("{}{}", bare.empty() ? "" : ",", word.substr(user.size()));
    begin = end + 1;
  }
  return expand_host_list(bare);
}

std::vector<std::string> hosts_of_user_in_file(std::string_view text, std::string_view user) {
  std::vector<std::string> hosts;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (!line.starts_with(user)) continue;
    const std::string_view host = line.substr(user.size());
    hosts.emplace_back(host.substr(0, host.find_first_of(" \t:#")));
  }
  return hosts;
}

}  // namespace

bool is_host_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  if (name.front() == '-' || name.front() == '.' || name.back() == '.') return false;
  // "7" is the address 0.0.0.7 to getaddrinfo.
  if (name.find_first_not_of("0123456789") == std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

std::vector<std::string> expand_host_list(std::string_view text, std::size_t limit) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = find_word_end(text, begin);
    const std::string_view word = text.substr(begin, end - begin);
    if (word.empty()) refuse_list(text, begin, "an empty host name");
    const Pattern pattern = parse_pattern(text, begin, word);
    const std::uint64_t count = count_names(pattern);
    if (count > limit - names.size()) {
      refuse_list(text, begin,
                  fmt::format("'{}' stands for {} hosts, at most {} are taken", printable(word, 40),
                              count == UINT64_MAX ? std::string("over 2^64") : std::to_string(count), limit),
                  ErrorKind::request);
    }
    const std::size_t before = names.size();
    append_names(pattern, 0, "", names);
    for (std::size_t i = before; i < names.size(); ++i) {
      if (!user_of(names[i]).empty()) {
        const std::string name = names[i];
        throw Error(
            ErrorKind::usage,
            describe_user(name, fmt::format("host list '{}', column {}", printable(text, 60), begin + 1),
                          hosts_of_user(text, user_of(name))));
      }
      if (!is_host_name(names[i])) {
        refuse_list(text, begin, fmt::format("'{}' is not a host name", printable(names[i], 60)));
      }
    }
    if (end == text.size()) return names;
    begin = end + 1;
  }
}

std::vector<std::string> parse_hostfile(std::string_view text, std::string_view file_name) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  int line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    std::string_view name = line.substr(0, line.find_first_of(" \t"));
    name = name.substr(0, name.find(':'));  // MPICH's host:n
    if (const std::string_view user = user_of(name); !user.empty()) {
      throw Error(ErrorKind::request, describe_user(name, fmt::format("{}:{}", file_name, line_number),
                                                    hosts_of_user_in_file(text, user)));
    }
    if (!is_host_name(name)) {
      throw Error(ErrorKind::request,
                  {fmt::format("'{}' is not a host name", printable(name, 60)),
                   fmt::format("{}:{}", file_name, line_number), "one host a line: h1 slots=4"});
    }
    const std::string_view attributes = trim(line.substr(std::min(line.find_first_of(" \t"), line.size())));
    if (!attributes.empty() && attributes.find('=') == std::string_view::npos) {
      throw Error(ErrorKind::request,
                  {fmt::format("'{}' is no attribute of host '{}': a second host is lost here",
                               printable(attributes, 60), name),
                   fmt::format("{}:{}", file_name, line_number), "one host a line: h1 slots=4"});
    }
    if (seen.insert(std::string(name)).second) names.emplace_back(name);
    if (names.size() > max_hosts) {
      throw Error(ErrorKind::request, {fmt::format("more than {} hosts", max_hosts),
                                       fmt::format("{}:{}", file_name, line_number), "a shorter hostfile"});
    }
  }
  return names;
}

std::vector<std::uint32_t> parse_hostfile_slots(std::string_view text) {
  std::vector<std::uint32_t> counts;
  std::unordered_set<std::string> seen;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    const std::size_t colon = word.find(':');
    std::string_view number;
    if (colon != std::string_view::npos) number = word.substr(colon + 1);
    for (const std::string_view attribute : split_blanks(line.substr(word.size())))
      if (attribute.starts_with("slots=")) number = attribute.substr(6);
    const auto count = number.empty() ? std::optional<std::uint64_t>(0) : parse_unsigned(number, UINT32_MAX);
    if (!seen.insert(std::string(word.substr(0, colon))).second || !count || (*count == 0 && !number.empty()))
      return {};
    counts.push_back(static_cast<std::uint32_t>(*count));
  }
  if (std::ranges::all_of(counts, [](std::uint32_t count) { return count == 0; })) counts.clear();
  return counts;
}

}  // namespace ddlrun
