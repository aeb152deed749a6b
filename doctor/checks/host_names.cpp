// SPDX-License-Identifier: MIT
// The names as they are written: letters, length of their lines, and which machine each is.
#include "base/text/host_list.hpp"
#include "base/text/known_hosts.hpp"
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/checks/software.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t line_limit = 63;  // of "HOST slot=SLOTS", in a buffer of 64 bytes

std::vector<std::string> all_names(const CheckInput& input) {
  std::vector<std::string> names = hosts_by_rank(input.job);
  names.insert(names.end(), input.job.allocation.begin(), input.job.allocation.end());
  for (const HostReport& host : input.hosts) names.push_back(host.host);
  return each_once(std::move(names));
}

}  // namespace

std::string some_of(const std::vector<std::string>& words) { return join_first(words, 4); }

std::string sed_pattern(const std::string& name) {
  std::string pattern;
  for (const char letter : name) pattern += letter == '.' ? "\\." : std::string(1, letter);
  return pattern;
}

std::vector<std::string> hosts_by_rank(const Job& job) {
  std::map<std::uint32_t, std::string> by_rank;
  for (rankfile::RankLine& line : rankfile::parse_rank_lines(job.rankfile_text))
    by_rank[line.rank] = std::move(line.host);
  std::vector<std::string> hosts;
  for (auto& [rank, host] : by_rank) hosts.push_back(std::move(host));
  return hosts;
}

std::vector<std::string> each_once(std::vector<std::string> names) {
  std::set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  return names;
}

std::optional<std::string> similar_name(const CheckInput& input, const std::string& name) {
  std::vector<std::string> candidates = all_names(input);
  for (const std::string_view known : input.driver_host.facts.list("name.known"))
    candidates.emplace_back(known);
  return similar_host(name, std::move(candidates));
}

std::vector<std::string> in_order_of_job(const CheckInput& input, const std::vector<std::string>& names) {
  std::vector<std::string> hosts;
  for (const HostReport& host : input.hosts) {
    if (std::find(names.begin(), names.end(), host.host) != names.end()) hosts.push_back(host.host);
  }
  return hosts;
}

std::vector<Finding> check_name_letters(const CheckInput& input) {
  std::vector<Finding> findings;
  std::map<std::string, std::string> spelling;
  const std::vector<std::string> names = all_names(input);
  const int mpi_major = open_mpi_major(input);
  for (const std::string& name : names) {
    const auto problem = rankfile::check_host_name(name, mpi_major);
    const bool managed = input.job.allocation_source.starts_with("SLURM");
    if (problem && !(managed && rankfile::is_relative_name(name))) {
      CheckResult result{problem->severity == rankfile::Severity::error ? Verdict::fail : Verdict::warn,
                         problem->what,
                         "letters, digits, '-' and '.'",
                         "Open MPI refuses or misreads it",
                         {}};
      result.remedy.on_driver_host = true;
      result.remedy.commands = {"getent hosts " + quote_shell(name)};
      result.remedy.note = problem->hint;
      for (Finding& finding : single_finding("NAME-05", std::move(result), in_order_of_job(input, {name})))
        findings.push_back(std::move(finding));
    }
    const auto [at, is_new] = spelling.emplace(to_lower(name), name);
    if (is_new || at->second == name) continue;
    CheckResult result{Verdict::warn,
                       fmt::format("{} and {} differ in upper and lower case only", at->second, name),
                       "one spelling",
                       "Open MPI takes them for two hosts, the resolver for one",
                       {}};
    result.remedy = {{"getent hosts " + quote_shell(name)}, false, true, "write one of the two everywhere"};
    for (Finding& finding : single_finding("NAME-05", std::move(result)))
      findings.push_back(std::move(finding));
    if (findings.size() >= 16) break;
  }
  if (!findings.empty()) return findings;
  return single_finding("NAME-05",
                        pass(fmt::format("{} names have only letters that all parts take", names.size())));
}

std::vector<Finding> check_rankfile_lines(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return single_finding("NAME-06", skip("no rankfile given (--rankfile FILE)"));
  std::size_t longest = 0, count = 0, rank = 0;
  std::vector<std::string> hosts;
  for (const rankfile::RankLine& line : rankfile::parse_rank_lines(input.job.rankfile_text)) {
    const std::size_t length = line.host.size() + 6 + line.slots.size();
    if (length > line_limit) ++count;
    if (length > line_limit) hosts.push_back(line.host);
    if (length > longest) rank = line.rank;
    longest = std::max(longest, length);
  }
  if (count == 0)
    return single_finding(
        "NAME-06", pass(fmt::format("the longest line has {} characters, at most {}", longest, line_limit)));
  CheckResult result{Verdict::fail,
                     fmt::format("{} line{} too long: rank {} has {} characters of host and slots", count,
                                 count == 1 ? " is" : "s are", rank, longest),
                     fmt::format("length(host) + 6 + length(slots) at most {}", line_limit),
                     open_mpi_major(input) >= 5
                         ? "mpirun writes past its buffer: it cuts the text or ends with SIGSEGV (status 139)"
                         : "mpirun aborts: buffer overflow detected (status 134)",
                     {}};
  const std::string path = quote_shell(input.job.rankfile_path);
  result.remedy = {{fmt::format("cp {0} {0}.before && ddlrun check-rankfile --fix {0}.before > {0}", path)},
                   false,
                   true,
                   "short host names, and ranges: slot=0:0-4 instead of slot=0:0;0:1;0:2"};
  return single_finding("NAME-06", std::move(result), in_order_of_job(input, hosts));
}

// One machine only if all of it agrees: virtual hosts and containers share a kernel, and so its boot id.
std::optional<std::string> machine_identity(const HostReport& host) {
  const auto boot = host.facts.text("name.boot_id");
  const auto name = host.facts.text("name.host");
  const auto networks = read_networks(host.host, host.facts);
  if (!boot || !name || !networks) return std::nullopt;
  std::string text = fmt::format("{} {}", *boot, *name);
  for (const HostInterface& interface : networks->interfaces)
    text += fmt::format(" {}={}={}", interface.name, interface.hardware, join(interface.addresses, ","));
  return text;
}

namespace {

std::string strike_command(const std::string& path, const std::vector<std::string>& names) {
  std::string script;
  for (const std::string& name : names) {
    script +=
        fmt::format("{}/^[[:blank:]]*{}([[:blank:]:]|$)/d", script.empty() ? "" : ";", sed_pattern(name));
  }
  return fmt::format("sed -i.before -E {} {}", quote_shell(script), quote_shell(path));
}

}  // namespace

std::vector<Finding> check_distinct_machines(const CheckInput& input) {
  std::vector<Finding> findings;
  const auto groups = group_by_value(input, machine_identity);
  std::size_t known = 0;
  for (const ValueGroup& group : groups) {
    known += group.hosts.size();
    if (group.hosts.size() < 2) continue;
    const std::vector<std::string> aliases(group.hosts.begin() + 1, group.hosts.end());
    CheckResult result{
        Verdict::fail,
        fmt::format("{} are names of one machine", join(group.hosts, " and ")),
        "each host once",
        "its cores and GPUs would get the ranks of several hosts; with slots= on both mpirun ends with "
        "\"multiple definitions of the slot count\"",
        {}};
    result.remedy.on_driver_host = true;
    result.remedy.note = fmt::format("take {} out of the list of hosts", join(aliases, ", "));
    if (!input.job.hostfile_path.empty())
      result.remedy.commands = {strike_command(input.job.hostfile_path, aliases)};
    else
      result.remedy.commands = {"ssh " + quote_shell(aliases.front()) + " hostname"};
    for (Finding& finding : single_finding("NAME-07", std::move(result), group.hosts))
      findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  if (known < 2) return single_finding("NAME-07", skip("fewer than two hosts reported their names"));
  return single_finding("NAME-07", pass(fmt::format("{} hosts are {} machines", known, groups.size())));
}

}  // namespace ddlrun::doctor
