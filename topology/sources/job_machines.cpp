// SPDX-License-Identifier: MIT
#include "topology/sources/job_machines.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "topology/sources/allocation.hpp"
#include "topology/sources/unreached_hint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::topology {

namespace {

constexpr int assumed_packages = 2;  // a Minsky: what rank_gen.py was written for
constexpr int assumed_cores = 10;

// Machines that only differ in where they were read from are one.
bool same_shape(MachineTopology a, const MachineTopology& b) {
  a.source = b.source;
  a.host_name = b.host_name;
  for (std::size_t i = 0; i < std::min(a.gpus.size(), b.gpus.size()); ++i) a.gpus[i].uuid = b.gpus[i].uuid;
  for (std::size_t i = 0; i < std::min(a.nics.size(), b.nics.size()); ++i)
    a.nics[i].address = b.nics[i].address;
  for (std::size_t i = 0; i < std::min(a.numa_nodes.size(), b.numa_nodes.size()); ++i) {
    a.numa_nodes[i].memory_bytes = b.numa_nodes[i].memory_bytes;
  }
  return a == b;
}

JobMachines one_for_all(MachineTopology machine, std::size_t hosts) {
  return {{std::move(machine)}, std::vector<std::uint32_t>(hosts, 0), {}, {}, false};
}

JobMachines assume_machines(System& system, const std::vector<RemoteMachine>& asked, std::size_t hosts,
                            Unprobed unprobed, HostPath path) {
  const std::string example = fmt::format("{}: {}", asked[0].host, asked[0].failure);
  const std::string hint = fmt::format(
      "{}, which reports why; or, to plan without reading them: --sockets 2 --cores 8, --topology FILE",
      unreached_hint(system, asked[0].host, asked[0].failure, path));
  const std::string what = fmt::format("the cores of none of {} hosts could be read", hosts);
  if (unprobed == Unprobed::refuse) {
    std::vector<std::string> names;
    for (const RemoteMachine& remote : asked) names.push_back(remote.host);
    throw Error(ErrorKind::unreachable, {what + ": " + printable(join(names, ","), 400), example, hint});
  }
  system.err(render_message("ddlrun", "warning",
                            {fmt::format("{}: {} packages of {} cores are ASSUMED, as in rank_gen.py", what,
                                         assumed_packages, assumed_cores),
                             example, hint}));
  auto machine = regular_machine(assumed_packages, assumed_cores, 1, "assumed 2x10, not probed");
  machine.assumed = true;
  return one_for_all(std::move(machine), hosts);
}

[[noreturn]] void refuse_silent_machines(System& system, const std::vector<RemoteMachine>& asked,
                                         HostPath path) {
  std::vector<std::string> silent;
  std::string failure;
  for (const RemoteMachine& remote : asked) {
    if (remote.machine) continue;
    if (silent.empty()) failure = remote.failure;
    silent.push_back(remote.host);
  }
  throw Error(ErrorKind::unreachable,
              {fmt::format("the topology of {} of {} hosts cannot be read: {}", silent.size(), asked.size(),
                           printable(join(silent, ","), 400)),
               fmt::format("{}: {}", silent[0], failure), unreached_hint(system, silent[0], failure, path)});
}

// mpirun and srun would start the ranks of such a host in another directory.
void check_directory(const std::vector<RemoteMachine>& asked, const std::string& directory) {
  std::vector<std::string> lacking;
  for (const RemoteMachine& remote : asked) {
    if (remote.lacks_directory) lacking.push_back(remote.host);
  }
  if (lacking.empty()) return;
  throw Error(ErrorKind::request, {fmt::format("{} cannot enter the working directory: nothing was started",
                                               printable(fold_host_list(lacking), 400)),
                                   printable(directory),
                                   fmt::format("cd to a directory that all hosts have; or ssh {} mkdir -p {}",
                                               lacking[0], quote_shell(quote_shell(directory)))});
}

JobMachines collect(std::vector<RemoteMachine> asked) {
  JobMachines job;
  for (RemoteMachine& remote : asked) {
    job.own_names.push_back(remote.machine->host_name);
    const auto known = std::find_if(job.machines.begin(), job.machines.end(),
                                    [&](const auto& m) { return same_shape(m, *remote.machine); });
    job.machine_of_host.push_back(static_cast<std::uint32_t>(known - job.machines.begin()));
    if (known == job.machines.end()) job.machines.push_back(std::move(*remote.machine));
    job.interfaces_of_host.push_back(std::move(remote.interfaces));
    job.lacks_step = job.lacks_step || remote.lacks_step;
  }
  return job;
}

// "" where the hosts are in no file.
std::string name_of_hostfile(const std::string& list, const std::string& hostfile) {
  return list.starts_with('@') ? list.substr(1) : hostfile;
}

}  // namespace

std::vector<std::string> read_host_names(System& system, const std::string& list,
                                         const std::string& hostfile) {
  if (!list.empty() && !hostfile.empty()) {
    throw Error(ErrorKind::usage,
                {fmt::format("hosts are given twice: '{}' and --hostfile {}", printable(list, 60), hostfile),
                 "", "one of the two"});
  }
  const std::string file = name_of_hostfile(list, hostfile);
  if (!file.empty()) {
    auto names = parse_hostfile(system.files.read(file, max_hostfile_bytes), file);
    if (!names.empty()) return names;
    throw Error(ErrorKind::request, {"no host in the hostfile", file, "one host a line: h1 slots=4"});
  }
  return list.empty() ? std::vector<std::string>{} : expand_host_list(list);
}

std::vector<std::uint32_t> read_host_slots(System& system, const std::string& list,
                                           const std::string& hostfile) {
  const std::string file = name_of_hostfile(list, hostfile);
  if (file.empty()) return {};
  return parse_hostfile_slots(system.files.read(file, max_hostfile_bytes));
}

bool is_this_host(const Environment& environment, const std::string& host) {
  const auto& names = environment.own_names;
  return std::find(names.begin(), names.end(), host) != names.end() ||
         host.substr(0, host.find('.')) == environment.host_name;
}

JobMachines find_job_machines(System& system, const std::vector<std::string>& hosts,
                              const MachineOptions& options, Unprobed unprobed, const std::string& directory,
                              HostPath path) {
  if (any_given(options)) return one_for_all(machine_from_options(system, options), hosts.size());
  if (std::all_of(hosts.begin(), hosts.end(),
                  [&](const auto& h) { return is_this_host(system.environment, h); })) {
    return one_for_all(this_machine(system), hosts.size());
  }
  auto asked = machines_of_hosts(system, hosts, directory, path);
  const auto answered =
      std::count_if(asked.begin(), asked.end(), [](const auto& r) { return r.machine.has_value(); });
  if (answered == 0) return assume_machines(system, asked, hosts.size(), unprobed, path);
  if (static_cast<std::size_t>(answered) < hosts.size()) refuse_silent_machines(system, asked, path);
  check_directory(asked, directory);
  return collect(std::move(asked));
}

}  // namespace ddlrun::topology
