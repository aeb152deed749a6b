// SPDX-License-Identifier: MIT
#include "launch/rank/oom_kills.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::uint64_t most_bytes = 16u << 10;

}  // namespace

std::string find_oom_file(std::string_view cgroups) {
  std::string unified;
  for (const std::string_view line : split(cgroups, '\n')) {  // "4:memory:/job/7", "0::/job/7"
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::string_view path = line.substr(parts[0].size() + parts[1].size() + 2);
    const std::string directory = path == "/" ? std::string() : std::string(path);
    const auto controllers = split(parts[1], ',');
    if (std::ranges::find(controllers, "memory") != controllers.end())
      return "/sys/fs/cgroup/memory" + directory + "/memory.oom_control";
    if (parts[0] == "0" && parts[1].empty()) unified = "/sys/fs/cgroup" + directory + "/memory.events";
  }
  return unified;
}

std::optional<std::uint64_t> parse_oom_kills(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_blanks(line);
    if (words.size() == 2 && words[0] == "oom_kill") return parse_unsigned(words[1], UINT64_MAX);
  }
  return std::nullopt;
}

std::optional<OomKills> read_oom_kills(System& system) {
  try {
    const std::string file = find_oom_file(system.files.read("/proc/self/cgroup", most_bytes));
    if (file.empty()) return std::nullopt;
    const auto count = parse_oom_kills(system.files.read(file, most_bytes));
    return count ? std::optional<OomKills>({file, *count}) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // hidden in a container
  }
}

std::optional<std::string> find_oom_kill(System& system, const std::optional<OomKills>& before,
                                         const ProcessResult& end) {
  const bool by_shell = end.signal == 0 && end.exit_status == 128 + SIGKILL;
  if (!before || end.forwarded_signal != 0 || (end.signal != SIGKILL && !by_shell)) return std::nullopt;
  const auto now = read_oom_kills(system);
  return now && now->count > before->count ? std::optional(now->file) : std::nullopt;
}

std::string render_oom_kill(std::uint32_t rank, const std::string& host, const std::string& file) {
  return fmt::format(
      "ddlrun: note: the kernel's OOM killer ended a process in the cgroup of rank {} on {}: the memory of "
      "the "
      "cgroup, or of the host, was used up{}\n",
      rank, printable(host, 64), file.empty() ? "" : fmt::format(" ({})", printable(file, 300)));
}

}  // namespace ddlrun::launch
