// SPDX-License-Identifier: MIT
// The names of the rankfile and the allocation: what mpirun will do with them.
#include "topology/rankfile/rankfile_names.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/parse/cidr.hpp"
#include "doctor/parse/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_rewrites = 64;

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
  names.own_name = input.driver_host.facts.text("name.host").value_or("");
  names.own_addresses = own_addresses(input.driver_host);
  names.resolved = read_name_table(input.driver_host.facts);
  names.mpi_major = open_mpi_major(input);
  for (const HostReport& host : input.hosts) {
    // It goes into a script of sed: no other letters than those of a name.
    const auto called = text_of(host, "name.host");
    if (called && is_host_name(*called)) names.host_names[host.host] = *called;
  }
  const auto keep = input.job.environment.find(names.mpi_major >= 5 ? "PRTE_MCA_prte_keep_fqdn_hostnames"
                                                                    : "OMPI_MCA_orte_keep_fqdn_hostnames");
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
    if (allocated.contains(name)) {
      if (names.mpi_major >= 5) right[name] = name;
      continue;
    }
    const auto row = names.resolved.find(name);
    if (owner.contains(name)) right[name] = owner.at(name);
    if (row == names.resolved.end()) continue;
    for (const std::string& address : row->second.addresses) {
      const bool local = address.starts_with("127.");
      if (!local && owner.contains(address)) right.emplace(name, owner.at(address));
    }
  }
  if (names.mpi_major < 5) return right;
  for (auto& [name, to] : right) {  // Open MPI 5 wants what the host calls itself
    const auto called = names.host_names.find(to);
    if (called != names.host_names.end()) to = rankfile::folded_name(called->second);
  }
  std::erase_if(right, [](const auto& entry) { return entry.first == entry.second; });
  return right;
}

std::string rewrite_rankfile_command(const std::string& path,
                                     const std::map<std::string, std::string>& right) {
  std::string script;
  for (const auto& [from, to] : right) {
    script += fmt::format("{}s/^([[:blank:]]*rank[^=]*=[[:blank:]]*){}([[:blank:]])/\\1{}\\2/",
                          script.empty() ? "" : ";", sed_pattern(from), to);
  }
  return fmt::format("sed -i.before -E {} {}", quote_shell(script), quote_shell(path));
}

// The network that the rankfile's names lead to: what the user wanted to choose by them.
std::string network_of_rankfile(const CheckInput& input, const LaunchNames& names) {
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

// A name that leads to no host is perhaps misspelt: the nearest of the allocation that the rankfile lacks.
std::optional<std::string> find_meant_name(const LaunchNames& names, const std::string& wrong) {
  std::vector<std::string> unused;
  for (const std::string& name : names.allocation) {
    if (std::find(names.rankfile.begin(), names.rankfile.end(), name) == names.rankfile.end())
      unused.push_back(name);
  }
  return closest_match(wrong, unused);
}

std::string right_names_of(const LaunchNames& names) {
  if (names.mpi_major < 5 && names.allocation.empty()) return "names that resolve where mpirun starts";
  if (names.mpi_major < 5) return fmt::format("the names of the allocation ({})", some_of(names.allocation));
  std::vector<std::string> called;
  for (const std::string& name : names.allocation) {
    const auto known = names.host_names.find(name);
    called.emplace_back(rankfile::folded_name(known == names.host_names.end() ? name : known->second));
  }
  if (called.empty()) return "the hosts in a hostfile or --host, and their own names (hostname -s)";
  return fmt::format("the hosts' own names, as hostname -s prints them ({})", some_of(each_once(called)));
}

// `wrong`: the name at which mpirun ends; or "".
Remedy remedy_for(const CheckInput& input, const LaunchNames& names, const std::string& wrong) {
  Remedy remedy;
  remedy.on_driver_host = true;
  auto right = find_right_names(input, names);
  const auto meant = wrong.empty() || right.contains(wrong) ? std::nullopt : find_meant_name(names, wrong);
  if (meant) right[wrong] = *meant;
  const std::string& path = input.job.rankfile_path;
  if (!right.empty() && right.size() <= most_rewrites && !path.empty()) {
    remedy.commands.push_back(rewrite_rankfile_command(path, right));
  } else {
    remedy.commands.push_back(
        fmt::format("ddlrun check-rankfile {} --hostfile {}", quote_shell(path),
                    quote_shell(input.job.hostfile_path.empty() ? "HOSTFILE" : input.job.hostfile_path)));
  }
  remedy.note =
      fmt::format("{}write into the rankfile {}; do not rename the hosts",
                  meant ? fmt::format("did you mean {} by {}? ", *meant, wrong) : "", right_names_of(names));
  const std::string cidr = network_of_rankfile(input, names);
  if (!cidr.empty()) {
    remedy.note +=
        fmt::format("; the network is chosen apart from the names: mpirun --mca btl_tcp_if_include {}", cidr);
  }
  return remedy;
}

std::string expected_for(const LaunchNames& names) {
  if (names.mpi_major >= 5 || names.allocation.empty()) return right_names_of(names);
  return fmt::format("names of the allocation: {}", some_of(names.allocation));
}

CheckResult evaluate_prediction(const CheckInput& input, const LaunchNames& names,
                                const Prediction& prediction) {
  const std::string where =
      input.job.allocation_source.empty() ? "the allocation" : input.job.allocation_source;
  std::string observed, why = fmt::format("mpirun will end with \"{}\"", prediction.stderr_text);
  switch (prediction.outcome) {
    case Outcome::runs:
      return pass(names.allocation.empty()
                      ? "mpirun takes the rankfile's names as its hosts"
                      : fmt::format("mpirun finds all names of the rankfile in {}", where));
    case Outcome::bad_host:
      observed = fmt::format("{} is in the rankfile but is no name of {}{}", prediction.host,
                             names.mpi_major >= 5 ? "a host by its own account in " : "", where);
      why += ", Host: " + prediction.host;
      break;
    case Outcome::all_filled:
      observed =
          fmt::format("no name of the rankfile ({}) is one of {}", some_of(each_once(names.rankfile)), where);
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
  return {Verdict::fail, observed, expected_for(names), why, remedy_for(input, names, prediction.host)};
}

}  // namespace

std::vector<Finding> check_rankfile_names(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return single_finding("NAME-02",
                          skip("no rankfile given (--rankfile FILE): mpirun takes the allocation's names"));
  const LaunchNames names = names_of_launch(input);
  if (names.rankfile.empty())
    return single_finding("NAME-02", skip("the rankfile has no line that can be read"));
  if (names.own_name.empty())
    return single_finding("NAME-02",
                          skip("this host's own names: " + input.driver_host.facts.why_missing("name.host")));
  const Prediction prediction = predict_mpirun(names);
  std::vector<std::string> hosts;  // whose names in the rankfile are to be mended
  if (prediction.outcome == Outcome::bad_host || prediction.outcome == Outcome::all_filled) {
    for (const auto& [name, right] : find_right_names(input, names)) hosts.push_back(right);
  }
  return single_finding("NAME-02", evaluate_prediction(input, names, prediction),
                        in_order_of_job(input, hosts));
}

}  // namespace ddlrun::doctor
