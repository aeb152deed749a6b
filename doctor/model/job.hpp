// SPDX-License-Identifier: MIT
// Facts about a job from its arguments alone.
#pragma once

#include "doctor/model/probe_request.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// A variable that changes how MPI, UCX or NCCL behave, and that users do not set by accident.
bool is_mpi_setting(std::string_view name);

// "apptainer", "/usr/bin/docker", ...
bool is_container_runtime(std::string_view program);

// The shape in the program's own arguments: "-mode b:4x2x1" -> 4x2x1; nothing without one.
std::optional<topology::Dims> find_program_dims(const std::vector<std::string>& program);

// The same words with another shape in that place.
std::vector<std::string> with_program_dims(std::vector<std::string> program, const topology::Dims& dims);

// Which words of the program name files that must be the same on every host: the script of an interpreter,
// the image of a container.
std::vector<std::string> find_program_files(const std::vector<std::string>& program);

// Fills the members of a request that describe the program.
void fill_program_files(const Job& job, ProbeRequest& request);

// True where the job starts ranks: a program, a rankfile, dims or a number of ranks was named.
bool starts_ranks(const Job& job);

// " --order packed" for a `ddlrun gen-rankfile` that keeps the order of the job's rankfile; or "".
std::string order_option(const Job& job);

}  // namespace ddlrun::doctor
