// SPDX-License-Identifier: MIT
// What can be told about a job from its words alone.
#pragma once

#include "doctor/model/question.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// A variable that changes how MPI, UCX or NCCL behave, and that nobody sets by himself.
bool is_mpi_setting(std::string_view name);

// "apptainer", "/usr/bin/docker", ...
bool is_container_runtime(std::string_view program);

// The shape that the program itself is told: "-mode b:4x2x1" -> 4x2x1; nothing without one.
std::optional<topology::Dims> find_program_dims(const std::vector<std::string>& program);

// The same words with another shape in that place.
std::vector<std::string> with_program_dims(std::vector<std::string> program, const topology::Dims& dims);

// Which words of the program name files that must be the same on every host: the script of an interpreter,
// the image of a container.
std::vector<std::string> find_program_files(const std::vector<std::string>& program);

// Fills what a question says about the program.
void ask_about_program(const Job& job, Question& question);

// True where the job starts ranks: a program, a rankfile, dims or a number of ranks was named.
bool starts_ranks(const Job& job);

}  // namespace ddlrun::doctor
