// SPDX-License-Identifier: MIT
// The remedies as a script to be read first. Commands travel to a host as one quoted word, so nothing that a
// host sent can become another command here.
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "doctor/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::string_view script_start = R"(#!/bin/bash
# Written by ddlrun doctor: remedies, to be read before they are run. Each step asks; "yes" runs it, anything
# else leaves it. DDLRUN_SSH names another ssh.
set -u
ssh=${DDLRUN_SSH:-ssh}

ask() {
  printf '\n%s\n' "$1"
  read -r -p 'Run this step? [yes/no] ' answer || return 1
  [ "$answer" = yes ]
}
# on SHELL HOST...: the commands on stdin, on each host
on() {
  local shell=$1 commands host
  shift
  commands=$(cat)
  for host in "$@"; do
    "$ssh" -o ForwardAgent=no -o ForwardX11=no -- "$host" "$shell" <<< "$commands" ||
      echo "failed on $host with status $?" >&2
  done
}
)";

constexpr std::string_view end_of_commands = "END_OF_REMEDY";

// One line of a comment, whatever was in the text.
std::string comment(std::string_view text) { return "# " + printable(text, 300) + "\n"; }

// A command is left out if it could end its own here-document, or if it is too long for a person to read
// whole.
std::string_view why_left_out(const Remedy& remedy) {
  for (const std::string& command : remedy.commands) {
    if (command.find(end_of_commands) != std::string::npos || command.find('\0') != std::string::npos)
      return "The command holds what ends commands here: see doctor --json.";
    if (command.size() > longest_command)
      return "The command is too long to be shown here: see doctor --json.";
  }
  return remedy.commands.empty() ? "There is no command for this one." : "";
}

// Asks once for the commands, and shows each of them.
std::string render_request(const Finding& finding, const std::string& request,
                           const std::vector<std::string>& commands) {
  const Remedy& remedy = finding.remedy;
  std::string shown = request;
  for (const std::string& command : commands) shown += "\n    " + printable(command, longest_command);
  std::string text = fmt::format("if ask {}; then\n", quote_shell(shown));
  const std::string shell = remedy.needs_root ? "sudo sh -s" : "sh -s";
  if (remedy.on_driver_host || finding.hosts.empty()) {
    text += "  " + shell;
  } else {
    text += "  on " + quote_shell(shell);
    for (const std::string& host : finding.hosts) text += " " + quote_shell(host);
  }
  text += fmt::format(" << '{}'\n", end_of_commands);
  for (const std::string& command : commands) text += command + "\n";
  return text + fmt::format("{}\nfi\n", end_of_commands);
}

std::string render_step(const Finding& finding, std::string_view title) {
  const Remedy& remedy = finding.remedy;
  std::string text = fmt::format("\n# {}\n", std::string(66, '-'));
  text += comment(fmt::format("{} {}: {}", finding.id, title, fold_host_list(finding.hosts)));
  text += comment(fmt::format("is {}; wanted {}", finding.observed, finding.expected));
  text += comment(finding.why);
  if (!remedy.note.empty()) text += comment("note: " + remedy.note);
  if (const auto why = why_left_out(remedy); !why.empty()) return text + fmt::format("# {}\n", why);
  const bool is_here = remedy.on_driver_host || finding.hosts.empty();
  const std::string request = printable(
      fmt::format("{} {} ({})", finding.id, title, is_here ? "here" : fold_host_list(finding.hosts)), 400);
  if (!remedy.asks_each) return text + render_request(finding, request, remedy.commands);
  for (const std::string& command : remedy.commands) text += render_request(finding, request, {command});
  return text;
}

bool needs_remedy(const Finding& finding) {
  return finding.verdict == Verdict::fail || finding.verdict == Verdict::warn;
}

}  // namespace

bool has_remedies(const Examination& examination) {
  return std::any_of(examination.findings.begin(), examination.findings.end(), needs_remedy);
}

std::string render_fix_script(const Examination& examination, std::span<const Check> checks) {
  std::string text(script_start);
  for (const Finding& finding : examination.findings) {
    if (!needs_remedy(finding)) continue;
    std::string_view title;
    for (const Check& check : checks) {
      if (check.id == finding.id) title = check.title;
    }
    text += render_step(finding, title);
  }
  return text;
}

}  // namespace ddlrun::doctor
