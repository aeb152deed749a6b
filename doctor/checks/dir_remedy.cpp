// SPDX-License-Identifier: MIT
#include "doctor/checks/dir_remedy.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace ddlrun::doctor {

namespace {

// Directories that belong to the system or to somebody: "/", "/scratch", "/usr/share", "/home/kim".
bool belongs_to_others(std::string_view path) {
  constexpr std::array<std::string_view, 12> trees{"/usr/",  "/etc/", "/bin/", "/sbin/", "/lib/", "/lib64/",
                                                   "/boot/", "/dev/", "/sys/", "/proc/", "/run/", "/var/"};
  const auto depth = std::count(path.begin(), path.end(), '/');
  return depth < 2 || (depth == 2 && path.starts_with("/home/")) ||
         std::any_of(trees.begin(), trees.end(),
                     [&](std::string_view tree) { return path.starts_with(tree); });
}

bool is_temporary(std::string_view path) {
  return path == "/tmp" || path == "/var/tmp" || path == "/dev/shm";
}

}  // namespace

Remedy plan_dir_remedy(const Facts& facts, std::string_view role) {
  const auto text = [&](std::string_view name) {
    return std::string(facts.text(fmt::format("disk.{}.{}", role, name)).value_or(""));
  };
  const std::string path = text("path"), existing = text("existing");
  const auto uid = facts.number("user.uid");
  if (text("state") == "missing") {
    if (text("writable") != "no" || !uid) return {{"mkdir -p " + quote_shell(path)}, false, false, ""};
    return {{fmt::format("install -d -o {} {}", *uid, quote_shell(path))}, true, false, ""};
  }
  if (is_temporary(path)) return {{"chmod 1777 " + path}, true, false, ""};
  if (!uid || existing.empty())
    return {{"ls -ld " + quote_shell(path)}, false, false, "its owner or root must let you write there"};
  if (existing == text("mount") || belongs_to_others(existing)) {
    const std::string user(facts.text("user.name").value_or(""));
    const std::string own =
        (existing == "/" ? "" : existing) + "/" + (user.empty() ? std::to_string(*uid) : user);
    return {
        {fmt::format("install -d -o {} {}", *uid, quote_shell(own))},
        true,
        false,
        fmt::format("{} is not one user's: take {} instead", printable(existing, 200), printable(own, 200))};
  }
  return {{fmt::format("chown {} {}", *uid, quote_shell(existing))}, true, false, ""};
}

}  // namespace ddlrun::doctor
