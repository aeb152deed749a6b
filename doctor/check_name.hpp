// SPDX-License-Identifier: MIT
// The checks of names and networks, by file.
#pragma once

#include "doctor/check.hpp"
#include "doctor/interfaces.hpp"

namespace ddlrun::doctor {

// check_resolution.cpp
std::vector<Finding> check_names_resolve(const CheckInput& input);  // NAME-01
std::vector<Finding> check_own_name(const CheckInput& input);       // NAME-03
std::vector<Finding> check_same_tables(const CheckInput& input);    // NAME-04
std::vector<Finding> check_connect_time(const CheckInput& input);   // NAME-08
// check_rankfile_names.cpp
std::vector<Finding> check_rankfile_names(const CheckInput& input);     // NAME-02
std::vector<Finding> check_name_letters(const CheckInput& input);       // NAME-05
std::vector<Finding> check_rankfile_lines(const CheckInput& input);     // NAME-06
std::vector<Finding> check_distinct_machines(const CheckInput& input);  // NAME-07
// check_network.cpp
std::vector<Finding> check_common_network(const CheckInput& input);  // MPI-04
std::vector<Finding> check_links(const CheckInput& input);           // NET-01
std::vector<Finding> check_ports_free(const CheckInput& input);      // NET-04
// check_pairs.cpp
std::vector<Finding> check_path_mtu(const CheckInput& input);     // NET-02
std::vector<Finding> check_connections(const CheckInput& input);  // NET-03
std::vector<Finding> check_stream_rate(const CheckInput& input);  // NET-05
std::vector<Finding> check_launch_tree(const CheckInput& input);  // SSH-03

// The hosts whose interfaces are known, with what the head takes their names for. check_network.cpp
std::vector<HostNetworks> known_networks(const CheckInput& input);

}  // namespace ddlrun::doctor
