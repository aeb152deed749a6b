// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/yaml_tree.hpp"
#include "launch/frameworks/horovod_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::frameworks {

namespace {

constexpr const char* horovod_file_hint =
    "sections, and KEY: VALUE in each: params: {cycle_time_ms: 5}; `ddlrun launch --help` lists the flags";

[[noreturn]] void refuse_key(const std::string& what, const std::string& place, const std::string& word,
                             const std::vector<std::string>& known) {
  throw Error(ErrorKind::request,
              {what, place, "known: " + closest_match(word, known).value_or(join(known, ", "))});
}

std::vector<std::string> known_sections() {
  std::vector<std::string> names{"controller"};
  for (const HorovodKey& key : horovod_keys()) {
    if (names.back() != key.section) names.emplace_back(key.section);
  }
  return names;
}

std::vector<std::string> known_keys(const std::string& section) {
  std::vector<std::string> names;
  for (const HorovodKey& key : horovod_keys()) {
    if (key.section == section) names.emplace_back(key.key);
  }
  return names;
}

// "key:" with nothing behind it says nothing.
bool is_empty(const YamlValue& value) {
  return value.kind == YamlValue::Kind::nothing ||
         (value.kind == YamlValue::Kind::scalar && value.text.empty());
}

// The tree knows where values are; of a section that is a line further down.
std::string place_of_section(std::string_view text, const std::string& file, const std::string& name) {
  int line = 1;
  for (const std::string_view each : split(text, '\n')) {
    if (each.starts_with(name + ":")) break;
    ++line;
  }
  return fmt::format("{}:{}:1", file, line);
}

void take_section(const std::string& section, const YamlValue& value, const std::string& file,
                  HorovodSettings& settings) {
  const std::vector<std::string> known = known_keys(section);
  for (const auto& [name, field] : value.fields) {
    if (std::ranges::find(known, name) == known.end())
      refuse_key(fmt::format("'{}' is no key of {}", printable(name, 40), section), place_in(file, field),
                 name, known);
    if (is_empty(field)) continue;
    if (field.kind != YamlValue::Kind::scalar)
      throw Error(ErrorKind::request,
                  {fmt::format("{} is one value", name), place_in(file, field), fmt::format("{}: 1", name)});
    settings.try_emplace(section + "." + name, HorovodValue{field.text, place_in(file, field)});
  }
}

}  // namespace

void read_horovod_yaml(std::string_view text, const std::string& file_name, HorovodSettings& settings) {
  const YamlValue root = parse_yaml(text, file_name, horovod_file_hint);
  if (root.kind == YamlValue::Kind::nothing) return;
  const std::vector<std::string> sections = known_sections();
  if (root.kind != YamlValue::Kind::mapping)
    refuse_key("Horovod's settings are sections", place_in(file_name, root), "", sections);
  for (const auto& [name, value] : root.fields) {
    const std::string place = place_of_section(text, file_name, name);
    if (std::ranges::find(sections, name) == sections.end())
      refuse_key(fmt::format("'{}' is no section of Horovod's settings", printable(name, 40)), place, name,
                 sections);
    if (name == "controller") {
      std::string word = value.text;
      std::ranges::transform(word, word.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      refuse_gloo(word, place);
    } else if (value.kind == YamlValue::Kind::mapping) {
      take_section(name, value, file_name, settings);
    } else if (!is_empty(value)) {
      refuse_key(fmt::format("{} is a section", name), place, name, known_keys(name));
    }
  }
}

}  // namespace ddlrun::frameworks
