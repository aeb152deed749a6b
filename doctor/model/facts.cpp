// SPDX-License-Identifier: MIT
#include "doctor/model/facts.hpp"

#include "base/text/text.hpp"

namespace ddlrun::doctor {

void Facts::set(std::string_view name, std::string_view text) {
  facts_.insert_or_assign(std::string(name), Fact{true, std::string(text)});
}

void Facts::set(std::string_view name, std::uint64_t number) { set(name, std::to_string(number)); }

void Facts::set_list(std::string_view name, const std::vector<std::string>& items) {
  set(name, join(items, "\n"));
}

void Facts::set_unknown(std::string_view name, std::string_view why) {
  facts_.insert_or_assign(std::string(name), Fact{false, std::string(why)});
}

void Facts::merge(Facts other) {
  for (auto& [name, fact] : other.facts_) facts_.insert_or_assign(name, std::move(fact));
}

std::optional<std::string_view> Facts::text(std::string_view name) const {
  const auto found = facts_.find(name);
  if (found == facts_.end() || !found->second.known) return std::nullopt;
  return found->second.text;
}

std::optional<std::uint64_t> Facts::number(std::string_view name) const {
  const auto value = text(name);
  return value ? parse_unsigned(*value) : std::nullopt;
}

std::vector<std::string_view> Facts::list(std::string_view name) const {
  const auto value = text(name);
  if (!value || value->empty()) return {};
  return split(*value, '\n');
}

bool Facts::is(std::string_view name, std::string_view wanted) const { return text(name) == wanted; }

std::string Facts::why_missing(std::string_view name) const {
  const auto found = facts_.find(name);
  if (found == facts_.end()) return "not gathered";
  return found->second.known ? std::string() : found->second.text;
}

std::vector<std::string> Facts::segments(std::string_view prefix) const {
  std::vector<std::string> parts;
  for (auto at = facts_.lower_bound(prefix); at != facts_.end() && at->first.starts_with(prefix); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(prefix.size());
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (parts.empty() || parts.back() != part) parts.emplace_back(part);
  }
  return parts;
}

}  // namespace ddlrun::doctor
