// SPDX-License-Identifier: MIT
// Number of ranks and hosts from DIMS, HOSTS, -H h1:4,h2:4, --np, --ranks-per-host and the other factors.
#pragma once

#include "launch/plan/launch_spec.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::launch {

// The positional words after -H is taken apart. The first of them may be hosts: `launch h1,h2`.
struct HostWords {
  std::string dims;                   // "4x2x1"; or ""
  std::string hosts;                  // "h1,n[1-3]", "@FILE"; or ""
  std::vector<std::uint32_t> counts;  // of -H, by host; empty: no counts
};

// Error{usage} where hosts are given twice or -H is invalid.
HostWords resolve_host_words(const LaunchFlags& flags);

// The counts of a hostfile with `slots`, by host, as -H would give them; empty where other options give the
// number of ranks on each host. Of TensorFlow's tasks the slots are the most on each host. Error{usage} where
// -n asks for more ranks than slots.
std::vector<std::uint32_t> counts_of_slots(const LaunchFlags& flags, const HostWords& words,
                                           const std::vector<std::string>& hosts,
                                           const std::vector<std::uint32_t>& slots);

// Where -n asks for fewer ranks than the hosts have slots: the hosts in their order, each full, as mpirun and
// horovodrun place them, and which hosts those are, in words. Else nothing changes, and "".
std::string fill_slots(const LaunchFlags& flags, std::vector<std::string>& hosts, HostWords& words);

// All of JobShape but `hosts`. Error{usage} for invalid numbers and for flags that contradict each other.
JobShape resolve_shape(const LaunchFlags& flags, const HostWords& words);

// The dims on so many hosts: those given, or from the factors given; `default_ranks` per host where no flag
// gives them. Error{request} where the hosts do not fit evenly.
topology::Dims resolve_dims(const JobShape& shape, std::size_t hosts, std::uint32_t default_ranks);

}  // namespace ddlrun::launch
