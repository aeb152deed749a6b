// SPDX-License-Identifier: MIT
#include "schedulers/client/site_files.hpp"

#include "base/os/configuration_path.hpp"
#include "base/text/text.hpp"
#include "templates/site_profile_yaml.hpp"

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

// Whether a file has only comments and blank lines, as a new config.yaml may.
bool has_no_line(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::ranges::all_of(lines, [](std::string_view line) {
    const std::string_view words = trim(line);
    return words.empty() || words.starts_with('#');
  });
}

}  // namespace

templates::SiteProfile load_site(System& system, const std::string& name_or_file) {
  const auto read = [&](const std::string& path) { return system.files.read(path, max_settings_bytes); };
  if (!templates::names_profile_file(name_or_file)) {
    if (const auto file = find_configuration_file(system, "sites/" + name_or_file + ".yaml"))
      return templates::parse_profile(read(*file), name_or_file, *file);
  }
  return templates::load_profile(name_or_file, read, list_configuration_names(system, "sites", ".yaml"));
}

std::vector<std::string> list_sites(System& system) {
  std::vector<std::string> names = list_configuration_names(system, "sites", ".yaml");
  for (std::string& name : templates::known_profiles())
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

JobSettings read_configuration(System& system, const std::string& file, std::vector<Message>& errors) {
  const std::string text = system.files.read(file, max_settings_bytes);
  return has_no_line(text) ? JobSettings() : read_job_settings(text, file, errors);
}

std::optional<std::string> find_shared_template(System& system, const std::string& name) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) return std::nullopt;
  for (const char* ending : {"", ".sh"}) {
    if (auto file = find_configuration_file(system, "templates/" + name + ending)) return file;
  }
  return std::nullopt;
}

bool is_shared_template(const Environment& environment, const std::string& path) {
  const auto directories = find_configuration_directories(environment);
  return std::ranges::any_of(
      directories, [&](const std::string& directory) { return path.starts_with(directory + "/templates/"); });
}

}  // namespace ddlrun::schedulers
