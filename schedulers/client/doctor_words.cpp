// SPDX-License-Identifier: MIT
#include "schedulers/client/doctor_words.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

using LogLines = std::span<const std::string_view>;

// A report ends with "2 hosts by ssh, quick: 108 checks in 0.2 s: ...", and so does an older one above it.
LogLines last_report(LogLines log) {
  const auto is_summary = [](std::string_view line) { return line.find(" checks in ") != line.npos; };
  const auto end = std::find_if(log.rbegin(), log.rend(), is_summary);
  if (end == log.rend()) return log;
  const auto above = std::find_if(end + 1, log.rend(), is_summary);
  return log.subspan(static_cast<std::size_t>(log.rend() - above));
}

// The text behind "  at    "; nothing for another line.
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::string_view text = trim(line);
  if (!text.starts_with(key) || !text.substr(key.size()).starts_with("  ")) return {};
  return trim(text.substr(key.size()));
}

// The remedy of the finding that begins at line 0: "try   there, as root:" with commands below it, or one
// line.
std::string read_remedy(LogLines finding) {
  std::string_view at;
  for (std::size_t i = 1; i < finding.size() && !trim(finding[i]).empty(); ++i) {
    if (const auto hosts = value_of(finding[i], "at"); !hosts.empty()) at = hosts;
    const std::string_view text = value_of(finding[i], "try");
    if (text.empty()) continue;
    const bool is_there = text.starts_with("there");
    if (!text.ends_with(':') || (!is_there && !text.starts_with("here"))) return printable(text, 300);
    std::vector<std::string> commands;
    while (++i < finding.size() && finding[i].starts_with("      "))
      commands.push_back(printable(trim(finding[i]), 300));
    const std::string place =
        is_there && !at.empty() ? "on " + printable(at, 100) : std::string(is_there ? "there" : "here");
    const bool as_root = text.find("as root") != text.npos;
    return fmt::format("{}   # {}{}", join(commands, "; "), place, as_root ? ", as root" : "");
  }
  return {};
}

}  // namespace

DoctorWords find_doctor_words(LogLines log) {
  DoctorWords words;
  const LogLines report = last_report(log);
  std::string last_id;
  for (std::size_t i = 0; i < report.size(); ++i) {
    const std::string_view line = trim(report[i]);
    if (!line.starts_with("fail ")) continue;
    const std::string_view finding = trim(line.substr(5));
    const std::size_t blank = std::min(finding.find(' '), finding.size());
    const std::string id(finding.substr(0, blank));
    if (words.failures.empty()) words.remedy = read_remedy(report.subspan(i));
    if (id == "SW-01" || id == "SW-02") words.may_go_on = false;
    if (id == last_id) continue;  // another value of the same check
    last_id = id;
    words.failures += fmt::format("{}{} {}", words.failures.empty() ? "" : ", ", printable(id, 20),
                                  printable(trim(finding.substr(blank)), 60));
  }
  return words;
}

}  // namespace ddlrun::schedulers
