// SPDX-License-Identifier: MIT
#include "templates/site_profile.hpp"

#include "base/text/text.hpp"
#include "templates/site_profile_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::templates {

namespace {

// "/etc/ddlrun/my-site.yaml" -> "my-site"
std::string stem_of(std::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

}  // namespace

bool names_profile_file(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".yaml") || word.ends_with(".yml");
}

std::vector<std::string> known_profiles() {
  std::vector<std::string> names;
  for (const auto& [name, text] : builtin_profiles()) names.push_back(name);
  return names;
}

std::optional<std::string> generic_profile(std::string_view scheduler) {
  const std::string name = fmt::format("generic-{}", scheduler);
  const auto known = known_profiles();
  const bool exists = std::find(known.begin(), known.end(), name) != known.end();
  return exists ? std::optional(name) : std::nullopt;
}

SiteProfile load_profile(const std::string& name_or_file,
                         const std::function<std::string(const std::string& path)>& read_file,
                         const std::vector<std::string>& centre) {
  if (names_profile_file(name_or_file)) {
    return parse_profile(read_file(name_or_file), stem_of(name_or_file), name_or_file);
  }
  for (const auto& [name, text] : builtin_profiles()) {
    if (name != name_or_file) continue;
    SiteProfile site = parse_profile(text, name, name + ".yaml");
    site.is_builtin = true;
    return site;
  }
  std::vector<std::string> known = known_profiles();
  known.insert(known.begin(), centre.begin(), centre.end());
  const auto near = closest_match(name_or_file, known);
  throw Error(
      ErrorKind::request,
      {fmt::format("no site profile '{}' among {}", printable(name_or_file, 60), join(known, ", ")), "site",
       near ? fmt::format("site: {}", *near) : std::string("site: ./my-site.yaml   # a file of your own")});
}

}  // namespace ddlrun::templates
