// SPDX-License-Identifier: MIT
#include "topology/sources/unreached_hint.hpp"

#include "base/text/error.hpp"
#include "base/text/known_hosts.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::topology {

namespace {

constexpr std::size_t most_known_names = 10000;
constexpr std::uint64_t most_bytes = 1 << 20;

std::string read_if_possible(System& system, const std::string& path) {
  try {
    const auto part = system.files.read_from(path, 0, most_bytes);
    return part ? part->bytes : std::string();
  } catch (const Error&) {  // a hint must not become an error
    return {};
  }
}

}  // namespace

std::string unreached_hint(System& system, const std::string& host, const std::string& failure,
                           HostPath path) {
  const bool by_ssh_alone = path == HostPath::ssh && has_slurm_path(system, {host});
  const std::string doctor =
      (by_ssh_alone ? "ddlrun doctor --via ssh " : "ddlrun doctor ") + quote_shell(host);
  if (failure.find("Could not resolve hostname") == std::string::npos) return doctor;
  if (system.files.exists(host))
    return fmt::format("--hostfile {0}, where the file {0} here has the hosts; else: {1}", quote_shell(host),
                       doctor);
  auto known = parse_hosts_table(read_if_possible(system, "/etc/hosts"), most_known_names);
  const std::string home = system.environment.get("HOME");
  for (const std::string& file : {home + "/.ssh/config", std::string("/etc/ssh/ssh_config")}) {
    for (std::string& name : parse_ssh_hosts(read_if_possible(system, file), most_known_names))
      known.push_back(std::move(name));
  }
  const auto near = similar_host(host, std::move(known));
  return near ? fmt::format("did you mean {}? Else: {}", *near, doctor) : doctor;
}

}  // namespace ddlrun::topology
