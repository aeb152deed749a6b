// SPDX-License-Identifier: MIT
#include "base/os/configuration_path.hpp"

#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace ddlrun {

namespace {

constexpr std::string_view system_directory = "/etc/ddlrun";

// "/opt/ddlrun/bin/ddlrun" -> "/opt/ddlrun/etc/ddlrun"; "" where /etc/ddlrun is that of the prefix too.
std::string directory_of_prefix(const std::string& executable) {
  constexpr std::string_view place = "/bin/ddlrun";
  if (!executable.ends_with(place)) return {};
  const std::string prefix = executable.substr(0, executable.size() - place.size());
  return prefix.empty() || prefix == "/usr" ? std::string() : prefix + "/etc/ddlrun";
}

std::string directory_of_user(const Environment& environment) {
  const std::string xdg = environment.get("XDG_CONFIG_HOME");
  if (xdg.starts_with('/')) return xdg + "/ddlrun";
  const std::string home = environment.get("HOME");
  return home.starts_with('/') ? home + "/.config/ddlrun" : std::string();
}

}  // namespace

std::vector<std::string> find_configuration_directories(const Environment& environment) {
  std::vector<std::string> directories;
  const std::string of_site = environment.get("DDLRUN_SITE_DIR");
  if (const std::string user = directory_of_user(environment); !user.empty()) directories.push_back(user);
  if (of_site.empty()) {
    const std::string of_prefix = directory_of_prefix(environment.executable);
    if (!of_prefix.empty()) directories.push_back(of_prefix);
    directories.emplace_back(system_directory);
  } else if (of_site.starts_with('/')) {
    directories.push_back(of_site);
  } else {
    throw Error(ErrorKind::request,
                {fmt::format("'{}' is not an absolute path", printable(of_site, 200)), "DDLRUN_SITE_DIR",
                 "export DDLRUN_SITE_DIR=" + quote_shell(environment.absolute(of_site))});
  }
  return directories;
}

// Its settings take effect in the jobs of the user who submits: no other user may be able to change them.
void check_configuration_file(System& system, const std::string& path) {
  const std::string why = system.files.foreign_writer(path);
  if (why.empty()) return;
  const std::string quoted = quote_shell(path);
  throw Error(
      ErrorKind::request,
      {fmt::format("{} is not read: {}", printable(path, 200), why), printable(path, 200),
       fmt::format("chown root {0}; chmod go-w {0}; ls -ld {1}", quoted, quote_shell(directory_of(path)))});
}

std::vector<std::string> list_configuration_files(System& system, const std::string& name) {
  std::vector<std::string> files;
  for (const std::string& directory : find_configuration_directories(system.environment)) {
    std::string path = fmt::format("{}/{}", directory, name);
    if (system.files.exists(path)) files.push_back(std::move(path));
  }
  return files;
}

std::vector<std::string> find_configuration_files(System& system, const std::string& name) {
  std::vector<std::string> files = list_configuration_files(system, name);
  for (const std::string& file : files) check_configuration_file(system, file);
  return files;
}

std::optional<std::string> find_configuration_file(System& system, const std::string& name) {
  const std::vector<std::string> files = list_configuration_files(system, name);
  if (files.empty()) return std::nullopt;
  check_configuration_file(system, files.front());
  return files.front();
}

std::vector<std::string> list_configuration_names(System& system, const std::string& directory,
                                                  const std::string& ending) {
  std::set<std::string> names;
  if (system.kernel == nullptr) return {};
  for (const std::string& parent : find_configuration_directories(system.environment)) {
    for (const std::string& name : system.kernel->list_directory(fmt::format("{}/{}", parent, directory)))
      if (name.size() > ending.size() && name.ends_with(ending) && !name.starts_with('.'))
        names.insert(name.substr(0, name.size() - ending.size()));
  }
  return {names.begin(), names.end()};
}

}  // namespace ddlrun
