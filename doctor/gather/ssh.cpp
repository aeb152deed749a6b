// SPDX-License-Identifier: MIT
// What sshd and ssh require of this user's files, and what the driver host's ssh is configured to forward.
//   ssh.home                home directory
//   ssh.mode.home, ssh.mode.directory, ssh.mode.authorized_keys   permission bits in octal, "755"
//   ssh.owner.home ...      "yes" where the file is ours or root's
//   ssh.mode.keys           lines "NAME MODE" of private keys id_*, on the driver host only
//   ssh.key                 the first private key's path, on the driver host only; unknown if there is none
//   ssh.forward             lines "HOST agent|X11" for hosts to which the driver host's ssh forwards,
//                           at most 64; on the driver host only
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_configured_hosts = 64;

void set_mode(const GatherContext& context, const std::string& path, const std::string& name, Facts& facts) {
  const auto info = context.kernel.file_info(context.root + path, true);
  if (!info) {
    facts.set_unknown("ssh.mode." + name, fmt::format("no {}", printable(path)));
    return;
  }
  facts.set("ssh.mode." + name, fmt::format("{:03o}", info->mode));
  const bool good_owner = info->uid == context.kernel.identity().uid || info->uid == 0;
  facts.set("ssh.owner." + name, good_owner ? "yes" : "no");
}

void look_at_keys(const GatherContext& context, const std::string& dir, Facts& facts) {
  std::vector<std::string> modes;
  for (const std::string& name : context.kernel.list_directory(context.root + dir)) {
    if (!name.starts_with("id_") || name.ends_with(".pub") || modes.size() == 16) continue;
    const auto info = context.kernel.file_info(context.root + dir + "/" + name, true);
    if (!info || info->kind != FileInfo::Kind::file) continue;
    if (modes.empty()) facts.set("ssh.key", dir + "/" + name);
    modes.push_back(fmt::format("{} {:03o}", printable(name, 80), info->mode));
  }
  if (modes.empty()) facts.set_unknown("ssh.key", fmt::format("no id_* in {}", dir));
  facts.set_list("ssh.mode.keys", modes);
}

bool mentions_forwarding(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view line : split(lower, '\n')) {
    const std::string_view setting = trim(line);
    const bool forwards = setting.starts_with("forwardagent") || setting.starts_with("forwardx11");
    if ((forwards && !setting.ends_with("no")) || setting.starts_with("include ") ||
        setting.starts_with("match "))
      return true;
  }
  return false;
}

// Debian's own ssh_config includes ssh_config.d: its files are read here, so that is no reason to ask.
bool is_the_usual_include(std::string_view text, const GatherContext& context) {
  std::string rest;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line) == "Include /etc/ssh/ssh_config.d/*.conf") {
      for (const std::string& name : context.kernel.list_directory(context.root + "/etc/ssh/ssh_config.d"))
        rest += read_small(context, "/etc/ssh/ssh_config.d/" + name).value_or("") + "\n";
    } else {
      rest += std::string(line) + "\n";
    }
  }
  return !mentions_forwarding(rest);
}

void look_at_forwarding(const GatherContext& context, const std::string& dir, Facts& facts) {
  const bool own = mentions_forwarding(read_small(context, dir + "/config").value_or(""));
  const bool systems =
      !is_the_usual_include(read_small(context, "/etc/ssh/ssh_config").value_or(""), context);
  std::vector<std::string> forwarded;
  if (own || systems) {  // ssh itself reports the settings for each host
    std::vector<Command> commands;
    for (const std::string& host : context.request.names) {
      if (commands.size() < most_configured_hosts) commands.push_back({"ssh", "-G", "--", host});
    }
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(2);
    limits.output_bytes = 64u << 10;
    const auto results = context.system.processes.run_many(commands, limits, 8);
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (const std::string_view line : split(results[i].out, '\n')) {
        const bool agent = line == "forwardagent yes";
        if (agent || line == "forwardx11 yes")
          forwarded.push_back(fmt::format("{} {}", commands[i].back(), agent ? "agent" : "X11"));
      }
    }
  }
  facts.set_list("ssh.forward", forwarded);
}

}  // namespace

void gather_ssh(const GatherContext& context, Facts& facts) {
  const std::string home = context.kernel.identity().home;
  if (home.empty()) {
    facts.set_unknown("ssh.home", "this user has no home directory in the user database");
    return;
  }
  const std::string dir = home + "/.ssh";
  facts.set("ssh.home", home);
  set_mode(context, home, "home", facts);
  set_mode(context, dir, "directory", facts);
  set_mode(context, dir + "/authorized_keys", "authorized_keys", facts);
  if (!context.request.is_driver_host) return;
  look_at_keys(context, dir, facts);
  look_at_forwarding(context, dir, facts);
}

}  // namespace ddlrun::doctor
