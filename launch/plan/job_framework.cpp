// SPDX-License-Identifier: MIT
#include "launch/plan/job_framework.hpp"

#include "base/os/host_info.hpp"
#include "base/os/network.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/plan/plan_job_ranks.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::launch {

namespace {

using frameworks::Framework;
using frameworks::FrameworkPlan;
using frameworks::FrameworkRequest;

// Below the ports that systems give to connections by themselves, which begin at 32768; other in each run.
constexpr std::uint16_t first_port = 20000;
constexpr std::uint64_t ports = 12000;

// `from` is the option or variable that names the port, `way` leaves the choice to launch.
void refuse_used_port(const Environment& environment, std::uint16_t port, const std::string& why,
                      const std::string& from, const std::string& way) {
  throw Error(
      ErrorKind::request,
      {fmt::format("port {} of {} cannot be listened on: {}", port, from, why), environment.host_name,
       fmt::format("{}: launch takes a free port; or: ss -ltnp | grep :{}   # whose is it?", way, port)});
}

// --master-port is nearer than a variable of the environment; against -x it is a contradiction.
void settle_master_port(const LaunchSpec& spec, const Exports& exports, FrameworkRequest& request,
                        std::vector<std::string>& remarks) {
  const auto own = request.environment.find("MASTER_PORT");
  if (!spec.framework.master_port || own == request.environment.end()) return;
  const std::string value = printable(own->second, 40);
  const bool differs = value != fmt::format("{}", *spec.framework.master_port);
  if (differs && exports.set_by_user.contains("MASTER_PORT"))
    throw Error(ErrorKind::usage,
                {fmt::format("--master-port {} and -x MASTER_PORT={} contradict each other",
                             *spec.framework.master_port, value),
                 "--master-port", fmt::format("--master-port {} alone", *spec.framework.master_port)});
  if (differs)
    remarks.push_back(fmt::format("MASTER_PORT={} of the environment gives way to --master-port {}", value,
                                  *spec.framework.master_port));
  request.environment.erase(own);
}

// The first rank of torch.distributed listens on it.
void check_own_port(System& system, const Exports& exports, const FrameworkRequest& request,
                    NetworkAccess& network) {
  const std::string& text = request.environment.at("MASTER_PORT");
  const auto port = parse_unsigned(text, 65535);
  if (!port || *port == 0) return;  // the program's own refusal names it
  const bool is_typed = exports.set_by_user.contains("MASTER_PORT");
  const std::string why = network.try_listen(static_cast<std::uint16_t>(*port));
  if (!why.empty())
    refuse_used_port(system.environment, static_cast<std::uint16_t>(*port), why,
                     is_typed ? "-x MASTER_PORT" : "MASTER_PORT in the environment",
                     is_typed ? "leave out -x MASTER_PORT" : "unset MASTER_PORT");
}

// Where the search for a free port begins; another place in each run.
std::uint64_t start_of_ports(System& system) {
  return static_cast<std::uint64_t>(system.clock.now().time_since_epoch().count()) / 1000;
}

std::optional<std::uint16_t> find_free_port(NetworkAccess& network, std::uint64_t start,
                                            std::uint16_t taken) {
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto port = static_cast<std::uint16_t>(first_port + (start + i) % ports);
    if (port != taken && network.try_listen(port).empty()) return port;
  }
  return std::nullopt;
}

// By which ports can be tried; nullptr in a dry run, and where rank 0 listens on another host.
NetworkAccess* network_of_ports(const System& system, const LaunchSpec& spec, const RankMap& rank_map) {
  if (spec.dry_run || system.kernel == nullptr) return nullptr;
  const auto first = find_rank(rank_map, 0);
  const bool is_here = first && topology::is_this_host(system.environment, first->host);
  return is_here ? system.kernel->network() : nullptr;
}

void choose_master_port(System& system, const LaunchSpec& spec, const Exports& exports,
                        NetworkAccess* network, FrameworkRequest& request) {
  if (spec.framework.master_port) {
    request.master_port = *spec.framework.master_port;
    request.master_port_why = "--master-port";
    const std::string why = network != nullptr ? network->try_listen(request.master_port) : "";
    if (!why.empty())
      refuse_used_port(system.environment, request.master_port, why, "--master-port",
                       "leave out --master-port");
    return;
  }
  if (request.environment.contains("MASTER_PORT")) {
    if (network != nullptr) check_own_port(system, exports, request, *network);
    return;
  }
  const std::uint64_t start = start_of_ports(system);
  request.master_port = static_cast<std::uint16_t>(first_port + start % ports);
  request.master_port_why =
      "from the time of the run, so that two runs differ; not tried, rank 0 is elsewhere (--master-port)";
  if (spec.dry_run)
    request.master_port_why = "from the time of the run; launch tries that it is free (--master-port)";
  if (network == nullptr) return;
  if (const auto port = find_free_port(*network, start, 0)) {
    request.master_port = *port;
    request.master_port_why = "free on this host, where rank 0 is";
  }
}

// Another than that of torch.distributed, which a program may use beside libddl.
void choose_libddl_port(System& system, NetworkAccess* network, FrameworkRequest& request) {
  const auto own = request.environment.find("MASTER_PORT");
  const auto typed = own == request.environment.end() ? std::nullopt : parse_unsigned(own->second, 65535);
  const auto taken = typed ? static_cast<std::uint16_t>(*typed) : request.master_port;
  const std::uint64_t start = start_of_ports(system) + 1;
  const auto next = static_cast<std::uint16_t>(first_port + start % ports);
  request.libddl_port = next == taken ? static_cast<std::uint16_t>(next + 1) : next;
  if (network == nullptr) return;
  if (const auto port = find_free_port(*network, start, taken)) request.libddl_port = *port;
}

void check_typed(const FrameworkPlan& plan, const LaunchSpec& spec) {
  for (const RankGroup& group : plan.groups) {
    for (const RankVariable& variable : group.variables) {
      const bool typed = std::ranges::any_of(spec.exports, [&](const std::string& word) {
        return word == variable.name || word.starts_with(variable.name + "=");
      });
      if (!typed) continue;
      throw Error(ErrorKind::usage, {fmt::format("-x {0}: {1} sets {0} for each rank", variable.name,
                                                 plan.framework == Framework::none ? "--launcher ssh"
                                                                                   : name_of(plan.framework)),
                                     "-x", "remove it, or --framework none"});
    }
  }
}

// A cluster that somebody wrote down in the shell, and that no rank gets.
void remark_replaced(const EnvVars& shell, FrameworkPlan& plan) {
  std::set<std::string> names;
  for (const RankGroup& group : plan.groups) {
    for (const RankVariable& variable : group.variables) {
      const auto own = shell.find(variable.name);
      if (own != shell.end() && !own->second.empty()) names.insert(variable.name);
    }
  }
  if (names.empty()) return;
  plan.remarks.push_back(
      fmt::format("{} of this shell: each rank gets its own value instead (--framework "
                  "none keeps yours, with -x NAME)",
                  join(std::vector<std::string>(names.begin(), names.end()), ", ")));
}

}  // namespace

FrameworkPlan plan_launch_framework(System& system, const LaunchSpec& spec, const JobPlan& job,
                                    const RankMap& rank_map, const Exports& exports, const Command& program,
                                    const JobNetwork& network, LauncherKind launcher) {
  FrameworkRequest request;
  request.framework = spec.framework.framework;
  request.program = program;
  request.rank_map = rank_map;
  request.plan = job.plan ? &*job.plan : nullptr;
  request.dims = known_job_dims(spec.shape, job);
  if (!spec.shape.rankfile.empty()) request.rankfile_dims = rankfile::read_header(job.rankfile_text).dims;
  request.uses_torch = spec.framework.uses_torch;
  request.environment = system.environment.variables;
  for (const auto& [name, value] : exports.set_by_user) request.environment[name] = value;
  request.address = network.addresses;
  if (job.hosts.size() == 1 && job.all_on_this_host(system.environment))
    request.address[job.hosts[0]] = "127.0.0.1";
  request.base_port = spec.framework.base_port;
  request.flags_style = spec.framework.flags_style;
  request.ps = spec.framework.ps_tasks;
  request.chief = spec.framework.chief;
  request.ddl_mode = spec.framework.ddl_mode;
  request.ddl_arguments = spec.framework.ddl_arguments;
  request.horovod = spec.framework.horovod;
  request.intel_caffe = spec.framework.intel_caffe;
  // A list of programs has variables of its own.
  const bool is_none = request.framework == Framework::none && !spec.framework.is_named;
  request.without_mpi = launcher == LauncherKind::ssh && spec.program_list.empty() &&
                        (is_none || request.framework == Framework::ddl);
  std::vector<std::string> remarks;
  if (request.framework == Framework::pytorch || request.without_mpi || request.uses_torch) {
    NetworkAccess* const network_of_rank_0 = network_of_ports(system, spec, request.rank_map);
    settle_master_port(spec, exports, request, remarks);
    choose_master_port(system, spec, exports, network_of_rank_0, request);
    if (request.without_mpi) choose_libddl_port(system, network_of_rank_0, request);
  }
  FrameworkPlan plan = frameworks::plan_framework(request);
  plan.remarks.insert(plan.remarks.end(), remarks.begin(), remarks.end());
  plan.remarks.insert(plan.remarks.begin(), spec.framework.remarks.begin(), spec.framework.remarks.end());
  check_typed(plan, spec);
  remark_replaced(system.environment.variables, plan);
  return plan;
}

void add_export(Exports& exports, const std::string& name, const std::string& why) {
  if (std::ranges::find(exports.names, name) == exports.names.end()) exports.names.push_back(name);
  std::erase_if(exports.reasons, [&](const Reason& reason) { return reason.subject == "-x " + name; });
  exports.reasons.push_back({"-x " + name, why});
}

void add_framework(const FrameworkPlan& plan, Exports& exports) {
  for (const frameworks::SharedVariable& variable : plan.shared) {
    if (variable.from_user) {
      add_export(exports, variable.name,
                 exports.set_by_user.contains(variable.name) ? "from -x" : variable.why);
      continue;
    }
    exports.set_by_us[variable.name] = variable.value;
    add_export(exports, variable.name, printable(variable.value, 120) + ": " + variable.why);
  }
}

void add_rank_reasons(const FrameworkPlan& plan, LaunchCommand& line) {
  for (const RankGroup& group : plan.groups) {
    const std::string who = group.name.empty() ? "rank" : group.name;
    for (const RankVariable& variable : group.variables)
      line.reasons.push_back(
          {fmt::format("{} {}", who, variable.name), variable.value + ": " + variable.why});
    for (const std::string& argument : group.arguments) line.reasons.push_back({who + " argument", argument});
  }
}

}  // namespace ddlrun::launch
