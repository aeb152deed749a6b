// SPDX-License-Identifier: MIT
// Hostfiles, /etc/hosts and ~/.ssh/config: every name is one that ssh takes.
#include "base/text/host_list.hpp"
#include "base/text/known_hosts.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(hostfile) {
  const auto hosts = fuzz::accepted([&] { return parse_hostfile(input, "hosts.txt"); });
  for (const std::string& host : hosts.value_or(std::vector<std::string>()))
    fuzz::require(is_host_name(host), "a hostfile gives host names", host);
  parse_hosts_table(input, 100);
  parse_ssh_hosts(input, 100);
}
