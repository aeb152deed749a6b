// SPDX-License-Identifier: MIT
#include "doctor/remote/target.hpp"

#include "base/os/host_info.hpp"
#include "base/text/text.hpp"

#include <array>

namespace ddlrun::doctor {

std::string find_jump_host(std::string_view ssh_configuration) {
  for (const std::string_view line : split(ssh_configuration, '\n')) {
    for (const std::string_view key : {"proxyjump ", "proxycommand "}) {
      if (line.starts_with(key) && line.substr(key.size()) != "none") return std::string(line);
    }
  }
  return {};
}

void Targets::read_ssh_configuration(const std::string& host) {
  Command command{options_.ssh, "-G"};
  command.insert(command.end(), options_.ssh_arguments.begin(), options_.ssh_arguments.end());
  command.insert(command.end(), {"--", host});
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(2);
  jump_host_ = find_jump_host(system_.processes.run(command, limits).out);
}

void Targets::resolve(const std::vector<std::string>& hosts) {
  if (options_.via != Via::ssh || hosts.empty()) return;
  read_ssh_configuration(hosts.front());
  if (!jump_host_.empty() || system_.kernel == nullptr) return;
  const auto lookups = system_.kernel->find_all_addresses(hosts);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& found = lookups[i].addresses;
    addresses_[hosts[i]] = found.empty() ? hosts[i] : found.front();
  }
}

std::string Targets::of(const std::string& host) const {
  if (options_.via != Via::ssh) return options_.via == Via::mpirun ? host : std::string();
  if (!jump_host_.empty()) return jump_host_;
  const auto known = addresses_.find(host);
  return known == addresses_.end() ? host : known->second;
}

}  // namespace ddlrun::doctor
