// SPDX-License-Identifier: MIT
// What was observed on one host: named values, and for each that could not be had, why. Names are dotted and
// lower case ("limit.memlock.soft", "net.eth0.mtu"); values are text, numbers decimal in the unit that the
// name or its gatherer states (bytes, seconds), lists one item a line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct Fact {
  bool known = true;
  std::string text;  // the value; where it is not known, why

  bool operator==(const Fact&) const = default;
};

using FactMap = std::map<std::string, Fact, std::less<>>;

class Facts {
 public:
  Facts() = default;
  // `own` beside those of `base` that are not in `without`.
  Facts(std::shared_ptr<const FactMap> base, FactMap own, std::set<std::string, std::less<>> without);
  void set(std::string_view name, std::string_view text);
  void set(std::string_view name, std::uint64_t number);
  void set_list(std::string_view name, const std::vector<std::string>& items);  // items without newlines
  // Not to be had here: `why` is shown to people ("needs root", "no answer within 5 s").
  void set_unknown(std::string_view name, std::string_view why);
  void merge(Facts other);

  // Nothing where it was never gathered or is not known.
  std::optional<std::string_view> text(std::string_view name) const;
  std::optional<std::uint64_t> number(std::string_view name) const;
  std::vector<std::string_view> list(std::string_view name) const;  // {} where empty, missing or not known
  bool is(std::string_view name, std::string_view text) const;
  // Why a value is missing: the gatherer's reason, or "not gathered".
  std::string why_missing(std::string_view name) const;
  // The parts behind `prefix` up to the next dot, each once: segments("net.") -> {"eth0", "ib0"}.
  std::vector<std::string> segments(std::string_view prefix) const;

  bool has(std::string_view name) const { return find(name) != nullptr; }  // known or not
  const Fact* find(std::string_view name) const;
  FactMap all() const;
  bool operator==(const Facts& other) const { return all() == other.all(); }

  // Thousands of equal hosts share one map: only what differs from `base` stays here. Nothing is done where
  // most differs.
  void share(const std::shared_ptr<const FactMap>& base);
  const std::shared_ptr<const FactMap>& base() const { return base_; }
  const FactMap& own() const { return own_; }
  const std::set<std::string, std::less<>>& without() const { return without_; }

 private:
  // Calls `take` for each fact from `begin` on, in order, until it returns false.
  void walk(std::string_view begin,
            const std::function<bool(const std::string& name, const Fact& fact)>& take) const;

  std::shared_ptr<const FactMap> base_;         // may be none
  FactMap own_;                                 // goes before `base_`
  std::set<std::string, std::less<>> without_;  // names of `base_` that are not gathered here
};

}  // namespace ddlrun::doctor
