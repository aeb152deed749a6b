// SPDX-License-Identifier: MIT
#include "doctor/model/facts.hpp"

#include "base/text/text.hpp"

namespace ddlrun::doctor {

Facts::Facts(std::shared_ptr<const FactMap> base, FactMap own, std::set<std::string, std::less<>> without)
    : base_(std::move(base)), own_(std::move(own)), without_(std::move(without)) {}

void Facts::set(std::string_view name, std::string_view text) {
  own_.insert_or_assign(std::string(name), Fact{true, std::string(text)});
}

void Facts::set(std::string_view name, std::uint64_t number) { set(name, std::to_string(number)); }

void Facts::set_list(std::string_view name, const std::vector<std::string>& items) {
  set(name, join(items, "\n"));
}

void Facts::set_unknown(std::string_view name, std::string_view why) {
  own_.insert_or_assign(std::string(name), Fact{false, std::string(why)});
}

void Facts::merge(Facts other) {
  if (other.base_) other.own_ = other.all();
  for (auto& [name, fact] : other.own_) own_.insert_or_assign(name, std::move(fact));
}

const Fact* Facts::find(std::string_view name) const {
  if (const auto own = own_.find(name); own != own_.end()) return &own->second;
  if (!base_ || without_.contains(name)) return nullptr;
  const auto shared = base_->find(name);
  return shared == base_->end() ? nullptr : &shared->second;
}

void Facts::walk(std::string_view begin,
                 const std::function<bool(const std::string& name, const Fact& fact)>& take) const {
  static const FactMap none;
  const FactMap& base = base_ ? *base_ : none;
  auto own = own_.lower_bound(begin);
  auto shared = base.lower_bound(begin);
  while (own != own_.end() || shared != base.end()) {
    const bool own_is_next = shared == base.end() || (own != own_.end() && own->first <= shared->first);
    const auto& [name, fact] = own_is_next ? *own : *shared;
    if (own_is_next && shared != base.end() && shared->first == name) ++shared;
    if ((own_is_next || !without_.contains(name)) && !take(name, fact)) return;
    ++(own_is_next ? own : shared);
  }
}

FactMap Facts::all() const {
  FactMap all;
  walk("", [&](const std::string& name, const Fact& fact) {
    all.emplace_hint(all.end(), name, fact);
    return true;
  });
  return all;
}

void Facts::share(const std::shared_ptr<const FactMap>& base) {
  if (!base || base_ == base) return;
  FactMap own;
  walk("", [&](const std::string& name, const Fact& fact) {
    const auto shared = base->find(name);
    if (shared == base->end() || shared->second != fact) own.emplace_hint(own.end(), name, fact);
    return own.size() <= base->size() / 2;
  });
  if (own.size() > base->size() / 2) return;
  std::set<std::string, std::less<>> without;
  for (const auto& [name, fact] : *base) {
    if (!has(name)) without.emplace_hint(without.end(), name);
  }
  *this = Facts(base, std::move(own), std::move(without));
}

std::optional<std::string_view> Facts::text(std::string_view name) const {
  const Fact* fact = find(name);
  if (fact == nullptr || !fact->known) return std::nullopt;
  return fact->text;
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
  const Fact* fact = find(name);
  if (fact == nullptr) return "not gathered";
  return fact->known ? std::string() : fact->text;
}

std::vector<std::string> Facts::segments(std::string_view prefix) const {
  std::vector<std::string> parts;
  walk(prefix, [&](std::string_view name, const Fact&) {
    if (!name.starts_with(prefix)) return false;
    const std::string_view rest = name.substr(prefix.size());
    const std::string_view part = rest.substr(0, rest.find('.'));
    if (parts.empty() || parts.back() != part) parts.emplace_back(part);
    return true;
  });
  return parts;
}

}  // namespace ddlrun::doctor
