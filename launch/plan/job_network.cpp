// SPDX-License-Identifier: MIT
#include "launch/plan/job_network.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/parse/names.hpp"
#include "doctor/run/choose_path.hpp"
#include "doctor/run/doctor_gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

using doctor::HostNetworks;
using doctor::HostReport;
using doctor::NetworkChoice;
using doctor::NetworkSetting;

bool names_interfaces(std::string_view name) {
  return name.ends_with("_if_include") || name.ends_with("_if_exclude");
}

// The user's own choice, by --mca, --mpi-arg or OMPI_MCA_: never overruled.
bool is_chosen_by_user(const LauncherWords& words, const EnvVars& environment) {
  return std::ranges::any_of(words.mca, [](const auto& one) { return names_interfaces(one.first); }) ||
         std::ranges::any_of(words.mpi_arguments, names_interfaces) ||
         std::ranges::any_of(environment, [](const auto& one) {
           return one.first.starts_with("OMPI_MCA_") && names_interfaces(one.first);
         });
}

// The interfaces that came with the machines of the hosts; empty unless those of all hosts did.
std::vector<HostNetworks> known_networks(const JobPlan& job) {
  const auto& known = job.machines.interfaces_of_host;
  if (known.size() != job.hosts.size() || std::ranges::any_of(known, &std::vector<std::string>::empty))
    return {};
  std::vector<HostNetworks> networks;
  for (std::size_t i = 0; i < known.size(); ++i) {
    doctor::Facts facts;
    facts.set_list("net.interfaces", known[i]);
    if (auto found = doctor::read_networks(job.hosts[i], facts)) networks.push_back(std::move(*found));
  }
  return networks;
}

std::vector<HostNetworks> ask_hosts(System& system, const JobPlan& job,
                                    std::optional<HostNetworks>& driver_host, std::string& silent) {
  const std::vector<std::string>& hosts = job.hosts;
  std::vector<HostNetworks> networks = known_networks(job);
  doctor::DoctorRequest request;
  if (networks.empty()) request.hosts = hosts;  // else this host alone is asked
  request.job.allocation = hosts;
  request.groups = {"names", "interfaces"};
  request.reach.limit = std::chrono::seconds(10);
  if (job.path == topology::HostPath::automatic) doctor::choose_path(system, request);
  const doctor::Gathered gathered = doctor::gather_from_hosts(system, request);
  driver_host = doctor::read_networks(gathered.driver_host.host, gathered.driver_host.facts);
  const doctor::NameTable names = doctor::read_name_table(gathered.driver_host.facts);
  for (const HostReport& report : gathered.by_path.front()) {
    auto found = doctor::read_networks(report.host, report.facts);
    if (!found) {
      silent = report.host + (report.reach.problem.empty() ? "" : ": " + report.reach.problem);
      continue;
    }
    networks.push_back(std::move(*found));
  }
  for (HostNetworks& host : networks) {
    const auto row = names.find(host.host);
    if (row != names.end()) host.own_addresses = row->second.addresses;
  }
  return networks;
}

void refuse_silent_network(const std::string& silent) {
  throw Error(ErrorKind::unreachable,
              {"a host did not report its interfaces: --interface cannot be checked", silent,
               "ddlrun doctor; or --interface none, which leaves the choice to mpirun"});
}

void refuse_unmet(const NetworkChoice& choice, const std::vector<HostNetworks>& hosts) {
  const NetworkChoice other = doctor::choose_network(hosts, "");
  throw Error(ErrorKind::request,
              {choice.why, "--interface",
               other.network ? "--interface " + other.network->cidr : "ip -4 -br addr on each host"});
}

// Variables that the user set keep their values.
bool is_set_already(const NetworkSetting& setting, const std::vector<std::string>& exports,
                    const EnvVars& environment) {
  if (environment.contains(setting.name)) return true;
  return std::ranges::any_of(exports, [&](const std::string& word) {
    return word == setting.name || word.starts_with(setting.name + "=");
  });
}

}  // namespace

JobNetwork choose_launch_network(System& system, const LaunchSpec& spec, const JobPlan& job) {
  JobNetwork result;
  const std::string& wanted = spec.launcher.interface;
  const EnvVars& environment = system.environment.variables;
  if (job.hosts.size() < 2 || wanted == "none") return result;
  // With a described machine the hosts are not asked.
  if (wanted.empty() &&
      (is_chosen_by_user(spec.launcher.words, environment) || topology::any_given(spec.placement.machine)))
    return result;
  std::optional<HostNetworks> driver_host;
  std::string silent;
  const std::vector<HostNetworks> hosts = ask_hosts(system, job, driver_host, silent);
  if (hosts.size() < job.hosts.size()) {
    if (!wanted.empty()) refuse_silent_network(silent);
    return result;
  }
  const NetworkChoice choice = doctor::choose_network(hosts, wanted);
  if (!choice.network && !wanted.empty()) refuse_unmet(choice, hosts);
  for (std::size_t i = 0; choice.network && i < hosts.size(); ++i)
    result.addresses[hosts[i].host] = choice.network->ports[i].address;
  if (wanted.empty() && !doctor::needs_choice(choice)) return result;
  for (NetworkSetting& setting :
       doctor::network_settings(choice, hosts, driver_host ? &*driver_host : nullptr)) {
    if (is_set_already(setting, spec.exports, environment)) continue;
    result.settings.push_back(std::move(setting));
  }
  if (!result.settings.empty())
    result.remark = fmt::format("network {}: {} (--interface)", choice.network->cidr, choice.why);
  return result;
}

std::vector<std::array<std::string, 3>> mca_settings(const JobNetwork& network) {
  std::vector<std::array<std::string, 3>> mca;
  for (const NetworkSetting& setting : network.settings) {
    if (setting.kind == NetworkSetting::Kind::mca) mca.push_back({setting.name, setting.value, setting.why});
  }
  return mca;
}

void add_network(const JobNetwork& network, Exports& exports) {
  for (const NetworkSetting& setting : network.settings) {
    if (setting.kind != NetworkSetting::Kind::variable) continue;
    exports.names.push_back(setting.name);
    exports.set_by_us[setting.name] = setting.value;
    exports.reasons.push_back({"-x " + setting.name, setting.why});
  }
}

}  // namespace ddlrun::launch
