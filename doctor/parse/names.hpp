// SPDX-License-Identifier: MIT
// Predicts what mpirun makes of the names of a job: the rules by which Open MPI 4.1 and 5.0 compare
// the names of a rankfile with those of the allocation. Pure; facts give the addresses of names.
#pragma once

#include "doctor/model/facts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// One name as a host resolves it.
struct NameRow {
  std::string name;
  std::vector<std::string> addresses;  // IPv4 first
  std::string problem;                 // why there is none; "" where there is one
};

std::string render_name_row(const NameRow& row);  // "node2 10.1.1.2,fe80::2" or "node9 ! Name or service..."
std::optional<NameRow> parse_name_row(std::string_view text);
// What a host resolved (its fact "name.table"), by name.
using NameTable = std::map<std::string, NameRow, std::less<>>;
NameTable read_name_table(const Facts& facts);

// The view of the driver host; `rankfile` holds the host of rank 0, 1, 2, ...
struct LaunchNames {
  std::vector<std::string> rankfile;
  std::vector<std::string> allocation;  // of a hostfile, -H or the scheduler; empty = none
  bool managed = false;  // mpirun asks the scheduler itself (Slurm): other rules for its own names
  std::string own_name;  // gethostname() where mpirun starts
  std::vector<std::string> own_addresses;  // of its interfaces, without prefix
  NameTable resolved;                      // there
  bool keep_fqdn = false;                  // orte_keep_fqdn_hostnames, prte_keep_fqdn_hostnames
  int mpi_major = 4;
  // For Open MPI 5: gethostname() of the allocation's hosts, by the allocation's name, as far as it is known.
  std::map<std::string, std::string, std::less<>> host_names;
};

enum class Outcome {
  runs,
  bad_host,       // "claimed that a host was either not allocated or oversubscribed its slots"
  all_filled,     // "All nodes which are allocated for this job are already filled"
  unresolved,     // mapped, then ssh: Could not resolve hostname
  illegal_name,   // mapped, then "illegal character in the following node name"
  no_allocation,  // "+n0" without a scheduler: "A relative host was specified, but no prior allocation"
  bad_index,      // "+n7": "Rankfile claimed host +n7 by index that is bigger than number of allocated hosts"
};
std::string_view outcome_name(Outcome outcome);  // "runs", "bad-host", ...

struct Prediction {
  Outcome outcome = Outcome::runs;
  std::string host;         // as mpirun prints it behind "Host:"; "" where it names none
  std::string stderr_text;  // the words by which mpirun or ssh refuses; "" for runs
};

Prediction predict_mpirun(const LaunchNames& names);

// True where `name` (cut as mpirun cuts it) is the launching host itself.
bool is_launching_host(const LaunchNames& names, std::string_view name);

}  // namespace ddlrun::doctor
