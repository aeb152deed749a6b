// SPDX-License-Identifier: MIT
#include "doctor/checks/software.hpp"

#include "base/text/text.hpp"
#include "doctor/parse/open_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

std::span<const Check> software_checks() {
  static const std::vector<Check> table = [] {
    std::vector<Check> all;
    for (const auto part : {ssh_checks(), mpi_release_checks(), ssh_file_checks(), mpi_checks(),
                            setting_checks(), rankfile_checks(), core_checks(), program_checks(),
                            version_checks(), scheduler_checks(), smoke_checks()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

std::string render_hosts(const std::vector<std::string>& hosts) { return join_first(hosts, 3); }

std::string into_bashrc(std::string_view line) {
  return fmt::format(
      "n=$(grep -nm1 -E '^[^#]*(\\$-|PS1.*return)' ~/.bashrc | cut -d: -f1); l={}; "
      "if [ -n \"$n\" ]; then sed -i \"${{n}}i $l\" ~/.bashrc; else echo \"$l\" >> ~/.bashrc; fi",
      quote_shell(line));
}

Remedy driver_host_commands(std::vector<std::string> commands, std::string note) {
  return {std::move(commands), false, true, std::move(note)};
}

int open_mpi_major(const CheckInput& input) {
  return open_mpi_major(text_of(input.driver_host, "mpi.version").value_or(""));
}

std::optional<std::string> text_of(const HostReport& host, std::string_view name) {
  const auto text = host.facts.text(name);
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

std::string minor_version(std::string_view version) {
  return std::string(version.substr(0, version.find('.', version.find('.') + 1)));
}

std::string mpi_vendor(const HostReport& host) { return text_of(host, "mpi.vendor").value_or(""); }

void add_result(std::vector<Finding>& findings, std::string_view id, const std::string& host,
                CheckResult result) {
  const auto same = [&](const Finding& finding) {
    return finding.verdict == result.verdict && finding.observed == result.observed &&
           finding.expected == result.expected && finding.why == result.why &&
           finding.remedy == result.remedy;
  };
  const auto found = std::find_if(findings.rbegin(), findings.rend(), same);
  if (found != findings.rend()) {
    found->hosts.push_back(host);
    return;
  }
  std::vector<Finding> one = single_finding(id, std::move(result), {host});
  findings.push_back(std::move(one.front()));
}

}  // namespace ddlrun::doctor
