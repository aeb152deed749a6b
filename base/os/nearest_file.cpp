// SPDX-License-Identifier: MIT
#include "base/os/nearest_file.hpp"

#include "base/os/host_info.hpp"
#include "base/text/text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun {

namespace {

// Of thousands of programs some are near any word: "nosuch" is no slip of "touch".
bool is_slip_of(std::string_view typed, std::string_view name) {
  constexpr std::size_t short_word = 8;
  if (typed.empty() || name.empty() || typed.front() != name.front()) return false;
  const bool is_short = std::max(typed.size(), name.size()) < short_word;
  return edit_distance(typed, name) <= (is_short ? 1U : 2U);
}

std::string remedy_with(const std::optional<std::string>& near, const std::string& path) {
  if (near) return quote_shell(*near) + "   # did you mean this?";
  return "ls " + quote_shell(directory_of(path)) + "   # what is there";
}

}  // namespace

std::optional<std::string> nearest_file(System& system, const std::string& path) {
  if (system.kernel == nullptr) return std::nullopt;
  const std::string_view name = base_name(path);
  const auto near = closest_match(name, system.kernel->list_directory(directory_of(path)));
  return near ? std::optional(path.substr(0, path.size() - name.size()) + *near) : std::nullopt;
}

std::optional<std::string> nearest_executable(System& system, const std::string& path) {
  if (system.kernel == nullptr) return std::nullopt;
  const std::string_view name = base_name(path);
  const std::string directory = directory_of(path), typed = path.substr(0, path.size() - name.size());
  std::vector<std::string> programs;
  for (std::string& found : system.kernel->list_directory(directory)) {
    const auto info = system.kernel->file_info(directory + "/" + found, true);
    const bool runs = info && info->kind == FileInfo::Kind::file && (info->mode & 0111U) != 0;
    if (runs) programs.push_back(std::move(found));
  }
  const auto near = closest_match(name, programs);
  return near ? std::optional(typed + *near) : std::nullopt;
}

std::optional<std::string> nearest_program(System& system, const std::string& name) {
  if (system.kernel == nullptr) return std::nullopt;
  const std::string path = system.environment.get("PATH");
  std::vector<std::string> names;
  for (const std::string_view directory : split(path, ':')) {
    if (directory.empty()) continue;
    for (std::string& found : system.kernel->list_directory(std::string(directory)))
      if (is_slip_of(name, found)) names.push_back(std::move(found));
  }
  return closest_match(name, names);
}

std::string remedy_for_missing_file(System& system, const std::string& path) {
  return remedy_with(nearest_file(system, path), path);
}

std::string remedy_for_missing_executable(System& system, const std::string& path) {
  return remedy_with(nearest_executable(system, path), path);
}

}  // namespace ddlrun
