// SPDX-License-Identifier: MIT
#include "base/text/known_hosts.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun {

namespace {

void add_names(const std::vector<std::string_view>& words, std::size_t most,
               std::vector<std::string>& names) {
  for (std::size_t i = 1; i < words.size() && names.size() < most; ++i) {
    if (is_host_name(words[i])) names.emplace_back(words[i]);
  }
}

// "22" and "2" alike.
std::string digits_of(std::string text) {
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  text.erase(std::unique(text.begin(), text.end()), text.end());
  return text;
}

}  // namespace

std::vector<std::string> parse_hosts_table(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n'))
    add_names(split_blanks(line.substr(0, line.find('#'))), most, names);
  return names;
}

std::vector<std::string> parse_ssh_hosts(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_blanks(line);
    if (!words.empty() && to_upper(words[0]) == "HOST") add_names(words, most, names);
  }
  return names;
}

std::vector<std::string> parse_known_hosts(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_blanks(line);
    if (words.empty() || words[0].starts_with('#') || words[0].starts_with('@')) continue;
    for (std::string_view name : split(words[0], ',')) {
      if (name.starts_with('[')) name = name.substr(1, name.find(']') - 1);
      if (is_host_name(name) && names.size() < most) names.emplace_back(name);
    }
  }
  return names;
}

std::optional<std::string> similar_host(const std::string& name, std::vector<std::string> candidates) {
  std::erase_if(candidates, [&](const std::string& one) {
    return one == name || digits_of(one) != digits_of(name) || !is_host_name(one);
  });
  return closest_match(name, candidates);
}

}  // namespace ddlrun
