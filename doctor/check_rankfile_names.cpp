// SPDX-License-Identifier: MIT
// The names of the rankfile and the allocation: what mpirun will do with them, and which machine each is.
#include "base/text.hpp"
#include "doctor/check_name.hpp"
#include "doctor/cidr.hpp"
#include "doctor/names.hpp"
#include "rankfile/rankfile_names.hpp"
#include "rankfile/rankfile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_shown = 4, most_rewrites = 64;
constexpr std::size_t line_limit = 63;  // of "HOST slot=SLOTS", in a buffer of 64 bytes

std::string some(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < most_shown; ++i) text += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > most_shown) text += fmt::format(" and {} more", words.size() - most_shown);
  return text;
}

// Hosts by rank; of a rank that is there twice the last line counts.
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

std::vector<std::string> own_addresses(const HostReport& report) {
  std::vector<std::string> addresses;
  const auto networks = read_networks(report.host, report.facts);
  if (!networks) return addresses;
  for (const HostInterface& interface : networks->interfaces) {
    for (const std::string& text : interface.addresses) addresses.push_back(text.substr(0, text.find('/')));
  }
  return addresses;
}

LaunchNames names_of_launch(const CheckInput& input) {
  LaunchNames names;
  names.rankfile = hosts_by_rank(input.job);
  names.allocation = input.job.allocation;
  names.managed = input.job.allocation_source.starts_with("SLURM");
  names.own_name = input.head.facts.text("name.host").value_or("");
  names.own_addresses = own_addresses(input.head);
  names.resolved = read_name_table(input.head.facts);
  const auto keep = input.job.environment.find("OMPI_MCA_orte_keep_fqdn_hostnames");
  names.keep_fqdn = keep != input.job.environment.end() && keep->second != "0" && keep->second != "false";
  return names;
}

// Which names of the allocation stand for the machines that the rankfile names: by the addresses they own.
std::map<std::string, std::string> find_right_names(const CheckInput& input, const LaunchNames& names) {
  std::map<std::string, std::string> owner;  // address -> name of the allocation
  const std::set<std::string> allocated(names.allocation.begin(), names.allocation.end());
  for (const std::string& name : names.allocation) {
    const auto row = names.resolved.find(rankfile::folded_name(name));
    if (row == names.resolved.end()) continue;
    for (const std::string& address : row->second.addresses) owner.emplace(address, name);
  }
  for (const HostReport& host : input.hosts) {
    const std::vector<std::string> addresses = own_addresses(host);
    std::string name = allocated.contains(host.host) ? host.host : "";
    for (const std::string& address : addresses) {
      if (name.empty() && owner.contains(address) && address != "127.0.0.1") name = owner.at(address);
    }
    for (const std::string& address : addresses) {
      if (!name.empty()) owner.emplace(address, name);
    }
  }
  std::map<std::string, std::string> right;
  for (const std::string& name : names.rankfile) {
    if (allocated.contains(name)) continue;
    const auto row = names.resolved.find(name);
    if (owner.contains(name)) right[name] = owner.at(name);
    if (row == names.resolved.end()) continue;
    for (const std::string& address : row->second.addresses) {
      const bool local = address.starts_with("127.");
      if (!local && owner.contains(address)) right.emplace(name, owner.at(address));
    }
  }
  return right;
}

// Each once, as the job lists them; names that are no hosts of it are left out.
std::vector<std::string> in_order_of_job(const CheckInput& input, const std::vector<std::string>& names) {
  std::vector<std::string> hosts;
  for (const HostReport& host : input.hosts) {
    if (std::find(names.begin(), names.end(), host.host) != names.end()) hosts.push_back(host.host);
  }
  return hosts;
}

std::string rewrite_command(const std::string& path, const std::map<std::string, std::string>& right) {
  std::string script;
  for (const auto& [from, to] : right) {
    std::string pattern;
    for (const char letter : from) pattern += letter == '.' ? "\\." : std::string(1, letter);
    script += fmt::format("{}s/^([[:blank:]]*rank[^=]*=[[:blank:]]*){}([[:blank:]])/\\1{}\\2/",
                          script.empty() ? "" : ";", pattern, to);
  }
  return fmt::format("sed -i.before -E {} {}", quote_shell(script), quote_shell(path));
}

// The network that the rankfile's names lead to: what the user wanted to choose by them.
std::string wanted_network(const CheckInput& input, const LaunchNames& names) {
  std::set<std::string> addresses;
  for (const std::string& name : names.rankfile) {
    const auto row = names.resolved.find(name);
    if (row != names.resolved.end() && !row->second.addresses.empty())
      addresses.insert(row->second.addresses.front());
  }
  for (const Network& network : find_networks(known_networks(input))) {
    const bool all = !network.ports.empty() && network.problem.empty() && !network.has_names;
    const bool leads = std::any_of(network.ports.begin(), network.ports.end(),
                                   [&](const NetworkPort& port) { return addresses.contains(port.address); });
    if (all && leads) return network.cidr;
  }
  return {};
}

Remedy remedy_for(const CheckInput& input, const LaunchNames& names) {
  Remedy remedy;
  remedy.on_head = true;
  const auto right = find_right_names(input, names);
  const std::string& path = input.job.rankfile_path;
  if (!right.empty() && right.size() <= most_rewrites && !path.empty()) {
    remedy.commands.push_back(rewrite_command(path, right));
  } else {
    remedy.commands.push_back(
        fmt::format("ddlrun check-rankfile {} --hostfile {}", quote_shell(path),
                    quote_shell(input.job.hostfile_path.empty() ? "HOSTFILE" : input.job.hostfile_path)));
  }
  remedy.note = fmt::format("write the names of the allocation in the rankfile ({}); do not rename the hosts",
                            some(names.allocation));
  const std::string cidr = wanted_network(input, names);
  if (!cidr.empty()) {
    remedy.note +=
        fmt::format("; the network is chosen apart from the names: mpirun --mca btl_tcp_if_include {}", cidr);
  }
  return remedy;
}

std::string expected_for(const LaunchNames& names) {
  return fmt::format("names of the allocation: {}", some(names.allocation));
}

Judgement judge_prediction(const CheckInput& input, const LaunchNames& names, const Prediction& prediction) {
  const std::string where =
      input.job.allocation_source.empty() ? "the allocation" : input.job.allocation_source;
  std::string observed, why = fmt::format("mpirun will end with \"{}\"", prediction.said);
  switch (prediction.outcome) {
    case Outcome::runs:
      return pass(names.allocation.empty()
                      ? "mpirun takes the rankfile's names as its hosts"
                      : fmt::format("mpirun finds all names of the rankfile in {}", where));
    case Outcome::bad_host:
      observed = fmt::format("{} is in the rankfile but is no name of {}", prediction.host, where);
      why += ", Host: " + prediction.host;
      break;
    case Outcome::all_filled:
      observed =
          fmt::format("no name of the rankfile ({}) is one of {}", some(each_once(names.rankfile)), where);
      break;
    case Outcome::unresolved:
      observed = fmt::format("{} resolves to nothing where mpirun starts", prediction.host);
      break;
    case Outcome::illegal_name:
      observed = fmt::format("{} has an underscore", prediction.host);
      break;
    case Outcome::no_allocation:
    case Outcome::bad_index:
      observed = fmt::format("{} counts hosts of a scheduler's allocation", prediction.host);
      break;
  }
  return {Verdict::fail, observed, expected_for(names), why, remedy_for(input, names)};
}

std::vector<std::string> all_names(const CheckInput& input) {
  std::vector<std::string> names = hosts_by_rank(input.job);
  names.insert(names.end(), input.job.allocation.begin(), input.job.allocation.end());
  for (const HostReport& host : input.hosts) names.push_back(host.host);
  return each_once(std::move(names));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

std::vector<Finding> check_rankfile_names(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return judge_once("NAME-02",
                      skip("no rankfile given (--rankfile FILE): mpirun takes the allocation's names"));
  const LaunchNames names = names_of_launch(input);
  if (names.rankfile.empty()) return judge_once("NAME-02", skip("the rankfile has no line that can be read"));
  if (names.own_name.empty())
    return judge_once("NAME-02", skip("this host's own names: " + input.head.facts.why_missing("name.host")));
  const Prediction prediction = predict_mpirun(names);
  std::vector<std::string> hosts;  // whose names in the rankfile are to be mended
  if (prediction.outcome == Outcome::bad_host || prediction.outcome == Outcome::all_filled) {
    for (const auto& [name, right] : find_right_names(input, names)) hosts.push_back(right);
  }
  return judge_once("NAME-02", judge_prediction(input, names, prediction), in_order_of_job(input, hosts));
}

std::vector<Finding> check_name_letters(const CheckInput& input) {
  std::vector<Finding> findings;
  std::map<std::string, std::string> spelling;
  const std::vector<std::string> names = all_names(input);
  for (const std::string& name : names) {
    const auto problem = rankfile::judge_name(name);
    const bool managed = input.job.allocation_source.starts_with("SLURM");
    if (problem && !(managed && rankfile::is_relative_name(name))) {
      Judgement judgement{problem->severity == rankfile::Severity::error ? Verdict::fail : Verdict::warn,
                          problem->what,
                          "letters, digits, '-' and '.'",
                          "Open MPI refuses or misreads it",
                          {}};
      judgement.remedy.on_head = true;
      judgement.remedy.commands = {"getent hosts " + quote_shell(name)};
      judgement.remedy.note = problem->hint;
      for (Finding& finding : judge_once("NAME-05", std::move(judgement), in_order_of_job(input, {name})))
        findings.push_back(std::move(finding));
    }
    const auto [at, is_new] = spelling.emplace(lower(name), name);
    if (is_new || at->second == name) continue;
    Judgement judgement{Verdict::warn,
                        fmt::format("{} and {} differ in upper and lower case only", at->second, name),
                        "one spelling",
                        "Open MPI takes them for two hosts, the resolver for one",
                        {}};
    judgement.remedy = {
        {"getent hosts " + quote_shell(name)}, false, true, "write one of the two everywhere"};
    for (Finding& finding : judge_once("NAME-05", std::move(judgement)))
      findings.push_back(std::move(finding));
    if (findings.size() >= 16) break;
  }
  if (!findings.empty()) return findings;
  return judge_once("NAME-05",
                    pass(fmt::format("{} names have only letters that all parts take", names.size())));
}

std::vector<Finding> check_rankfile_lines(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return judge_once("NAME-06", skip("no rankfile given (--rankfile FILE)"));
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
    return judge_once(
        "NAME-06", pass(fmt::format("the longest line has {} characters, at most {}", longest, line_limit)));
  Judgement judgement{Verdict::fail,
                      fmt::format("{} line{} too long: rank {} has {} characters of host and slots", count,
                                  count == 1 ? " is" : "s are", rank, longest),
                      fmt::format("length(host) + 6 + length(slots) at most {}", line_limit),
                      "mpirun aborts: buffer overflow detected (status 134)",
                      {}};
  const std::string path = quote_shell(input.job.rankfile_path);
  judgement.remedy = {
      {fmt::format("cp {0} {0}.before && ddlrun check-rankfile --fix {0}.before > {0}", path)},
      false,
      true,
      "short host names, and ranges: slot=0:0-4 instead of slot=0:0;0:1;0:2"};
  return judge_once("NAME-06", std::move(judgement), in_order_of_job(input, hosts));
}

namespace {

// One machine only if all of it agrees: virtual hosts and containers share a kernel, and so its boot id.
std::optional<std::string> machine_of(const HostReport& host) {
  const auto boot = host.facts.text("name.boot_id");
  const auto name = host.facts.text("name.host");
  const auto networks = read_networks(host.host, host.facts);
  if (!boot || !name || !networks) return std::nullopt;
  std::string text = fmt::format("{} {}", *boot, *name);
  for (const HostInterface& interface : networks->interfaces)
    text += fmt::format(" {}={}={}", interface.name, interface.hardware, join(interface.addresses, ","));
  return text;
}

std::string strike_command(const std::string& path, const std::vector<std::string>& names) {
  std::string script;
  for (const std::string& name : names) {
    std::string pattern;
    for (const char letter : name) pattern += letter == '.' ? "\\." : std::string(1, letter);
    script += fmt::format("{}/^[[:blank:]]*{}([[:blank:]:]|$)/d", script.empty() ? "" : ";", pattern);
  }
  return fmt::format("sed -i.before -E {} {}", quote_shell(script), quote_shell(path));
}

}  // namespace

std::vector<Finding> check_distinct_machines(const CheckInput& input) {
  std::vector<Finding> findings;
  const auto groups = group_by_value(input, machine_of);
  std::size_t known = 0;
  for (const ValueGroup& group : groups) {
    known += group.hosts.size();
    if (group.hosts.size() < 2) continue;
    const std::vector<std::string> aliases(group.hosts.begin() + 1, group.hosts.end());
    Judgement judgement{
        Verdict::fail,
        fmt::format("{} are names of one machine", join(group.hosts, " and ")),
        "each host once",
        "its cores and GPUs would get the ranks of several hosts; with slots= on both mpirun ends with "
        "\"multiple definitions of the slot count\"",
        {}};
    judgement.remedy.on_head = true;
    judgement.remedy.note = fmt::format("take {} out of the list of hosts", join(aliases, ", "));
    if (!input.job.hostfile_path.empty())
      judgement.remedy.commands = {strike_command(input.job.hostfile_path, aliases)};
    else
      judgement.remedy.commands = {"ssh " + quote_shell(aliases.front()) + " hostname"};
    for (Finding& finding : judge_once("NAME-07", std::move(judgement), group.hosts))
      findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  if (known < 2) return judge_once("NAME-07", skip("fewer than two hosts told who they are"));
  return judge_once("NAME-07", pass(fmt::format("{} hosts are {} machines", known, groups.size())));
}

}  // namespace ddlrun::doctor
