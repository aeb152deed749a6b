// SPDX-License-Identifier: MIT
// The checks of the software subject, a table a file; checks/software.cpp puts them together.
#pragma once

#include "doctor/model/check.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

std::span<const Check> ssh_checks();          // SSH-01, 02, 04, 06
std::span<const Check> ssh_file_checks();     // SSH-07..09
std::span<const Check> mpi_release_checks();  // SSH-05, MPI-01
std::span<const Check> mpi_checks();          // MPI-02, 03, 05, 09, 10
std::span<const Check> setting_checks();      // MPI-07, SEC-01
std::span<const Check> smoke_checks();        // MPI-06
std::span<const Check> rankfile_checks();     // MPI-08, CPU-02, CPU-03
std::span<const Check> core_checks();         // CPU-01, CPU-06
std::span<const Check> program_checks();      // SW-01, 02
std::span<const Check> version_checks();      // SW-03..06
std::span<const Check> scheduler_checks();    // SCH-01..05

// "h1" or "h1, h2 and 3 more".
std::string render_hosts(const std::vector<std::string>& hosts);

// The shell line that puts `line` into ~/.bashrc behind what is there, but before the line at which shells
// that are not interactive turn back.
std::string into_bashrc(std::string_view line);

// A remedy that is run on the driver host.
Remedy driver_host_commands(std::vector<std::string> commands, std::string note = {});

// "4.1.4" -> "4.1"
std::string minor_version(std::string_view version);
// "Open MPI", ...; "" where no MPI was found.
std::string mpi_vendor(const HostReport& host);

// A host's fact, or nothing: the form that group_by_value takes.
std::optional<std::string> text_of(const HostReport& host, std::string_view name);

// The major release of Open MPI on the driver host; 4 where it is not known.
int open_mpi_major(const CheckInput& input);

// One finding a result, for hosts reported one by one; equal results share a finding, in order.
void add_result(std::vector<Finding>& findings, std::string_view id, const std::string& host,
                CheckResult result);

}  // namespace ddlrun::doctor
