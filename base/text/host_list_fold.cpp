// SPDX-License-Identifier: MIT
// Host names folded into ranges for people: "node[001-064]".
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ddlrun {

namespace {

// A name with its last number taken out: "rack1-node07-ib" -> {"rack1-node", 7, 2, "-ib"}.
struct Numbered {
  std::string prefix, suffix;
  int number = 0;
  std::size_t digits = 0;
  bool padded = false;  // with leading zeros
};

std::optional<Numbered> take_number(const std::string& name) {
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos || name.find_first_not_of("0123456789.") == std::string::npos) {
    return std::nullopt;  // addresses stay as they are
  }
  std::size_t first = last;
  while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
  const std::string digits = name.substr(first, last - first + 1);
  const auto number = parse_unsigned(digits, 999'999'999);
  if (!number) return std::nullopt;
  const bool padded = digits.size() > 1 && digits[0] == '0';
  return Numbered{name.substr(0, first), name.substr(last + 1), static_cast<int>(*number), digits.size(),
                  padded};
}

struct Group {
  std::string prefix, suffix;
  std::size_t width = 0;
  std::vector<int> numbers;
  std::string plain;      // a name without a number
  std::size_t names = 0;  // repeated ones too
};

std::string render_number(int number, std::size_t width) { return fmt::format("{:0{}}", number, width); }

std::string render_group(Group group) {
  if (!group.plain.empty()) return group.plain;
  std::sort(group.numbers.begin(), group.numbers.end());
  group.numbers.erase(std::unique(group.numbers.begin(), group.numbers.end()), group.numbers.end());
  std::string inside;
  for (std::size_t i = 0; i < group.numbers.size();) {
    std::size_t end = i;
    while (end + 1 < group.numbers.size() && group.numbers[end + 1] == group.numbers[end] + 1) ++end;
    if (!inside.empty()) inside += ',';
    inside += render_number(group.numbers[i], group.width);
    if (end > i) inside += '-' + render_number(group.numbers[end], group.width);
    i = end + 1;
  }
  const bool single = group.numbers.size() == 1;
  return group.prefix + (single ? inside : '[' + inside + ']') + group.suffix;
}

// The width with which a name's number is written in its group: h1000 belongs to h0001, h1 does not.
std::size_t width_of(const Numbered& name, const std::map<std::string, std::size_t>& widths) {
  if (name.padded) return name.digits;
  const auto width = widths.find(name.prefix + ' ' + name.suffix);
  return width != widths.end() && name.digits >= width->second ? width->second : 0;
}

std::vector<Group> group_names(const std::vector<std::string>& hosts) {
  std::vector<std::optional<Numbered>> names;
  std::map<std::string, std::size_t> widths;  // of padded numbers, by prefix and suffix
  for (const std::string& host : hosts) {
    names.push_back(take_number(host));
    if (names.back() && names.back()->padded) {
      widths.emplace(names.back()->prefix + ' ' + names.back()->suffix, names.back()->digits);
    }
  }
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& name = names[i];
    const std::size_t width = name ? width_of(*name, widths) : 0;
    const std::string key = name ? fmt::format("{} {} {}", name->prefix, name->suffix, width) : hosts[i];
    const auto [place, is_new] = places.emplace(key, groups.size());
    if (is_new) {
      groups.push_back(name ? Group{name->prefix, name->suffix, width, {}, {}, 0}
                            : Group{{}, {}, 0, {}, hosts[i], 0});
    }
    if (name) groups[place->second].numbers.push_back(name->number);
    ++groups[place->second].names;
  }
  return groups;
}

}  // namespace

std::string fold_host_list(const std::vector<std::string>& hosts, std::size_t limit) {
  std::string text;
  std::size_t shown = 0;
  for (const Group& group : group_names(hosts)) {
    const std::string part = render_group(group);
    if (!text.empty() && text.size() + part.size() > limit) break;
    text += (text.empty() ? "" : ",") + part;
    shown += group.names;
  }
  if (text.size() > limit) text = text.substr(0, limit) + "...";
  if (shown < hosts.size()) text += fmt::format(", and {} more", hosts.size() - shown);
  return text;
}

}  // namespace ddlrun
