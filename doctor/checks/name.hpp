// SPDX-License-Identifier: MIT
// The checks of names and networks, by file.
#pragma once

#include "doctor/model/check.hpp"
#include "doctor/parse/interfaces.hpp"

namespace ddlrun::doctor {

// checks/resolution.cpp
std::vector<Finding> check_names_resolve(const CheckInput& input);  // NAME-01
std::vector<Finding> check_own_name(const CheckInput& input);       // NAME-03
std::vector<Finding> check_same_tables(const CheckInput& input);    // NAME-04
std::vector<Finding> check_connect_time(const CheckInput& input);   // NAME-08
// checks/rankfile_names.cpp
std::vector<Finding> check_rankfile_names(const CheckInput& input);  // NAME-02
// checks/host_names.cpp
std::vector<Finding> check_name_letters(const CheckInput& input);       // NAME-05
std::vector<Finding> check_rankfile_lines(const CheckInput& input);     // NAME-06
std::vector<Finding> check_distinct_machines(const CheckInput& input);  // NAME-07
// checks/hostfile.cpp
std::vector<Finding> check_hostfile(const CheckInput& input);  // NAME-09
// checks/network.cpp
std::vector<Finding> check_common_network(const CheckInput& input);  // MPI-04
std::vector<Finding> check_links(const CheckInput& input);           // NET-01
std::vector<Finding> check_ports_free(const CheckInput& input);      // NET-04
// checks/streams.cpp
std::vector<Finding> check_path_mtu(const CheckInput& input);     // NET-02
std::vector<Finding> check_stream_rate(const CheckInput& input);  // NET-05
// checks/pairs.cpp
std::vector<Finding> check_connections(const CheckInput& input);  // NET-03
std::vector<Finding> check_launch_tree(const CheckInput& input);  // SSH-03

// Pieces that several of them need.
std::string some_of(const std::vector<std::string>& words);  // "a, b, c, d and 3 more"
std::string sed_pattern(const std::string& name);            // a host name with its dots escaped
std::vector<std::string> hosts_by_rank(const Job& job);  // of the rankfile; the last line of a rank counts
std::vector<std::string> each_once(std::vector<std::string> names);
// Each once, as the job lists them; names that are no hosts of it are left out.
std::vector<std::string> in_order_of_job(const CheckInput& input, const std::vector<std::string>& names);
// The driver host takes part in probes where it is none of the hosts.
std::vector<const HostReport*> hosts_and_driver_host(const CheckInput& input);
// One of these two: commands go to the hosts of a finding, so no host may name another one there.
bool takes_part(const CheckInput& input, std::string_view name);
// The driver host, under its own name or as one of the hosts: what it reports needs no second witness.
bool is_driver_host(const CheckInput& input, std::string_view host);
// Equal where two reports are of one machine, under whatever names; nothing where it is not known.
std::optional<std::string> machine_identity(const HostReport& host);
// Another name of the job or of the driver host's /etc/hosts that was probably meant; with other digits none
// was.
std::optional<std::string> similar_name(const CheckInput& input, const std::string& name);
// A skip with its reason where no host has the fact.
std::optional<CheckResult> why_not_evaluated(const CheckInput& input, std::string_view fact);

// The hosts whose interfaces are known, with what the driver host takes their names for. checks/network.cpp
std::vector<HostNetworks> known_networks(const CheckInput& input);

}  // namespace ddlrun::doctor
