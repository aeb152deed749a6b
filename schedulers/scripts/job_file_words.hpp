// SPDX-License-Identifier: MIT
// Words of a script, and what they mean for a job file.
#pragma once

#include "base/os/system.hpp"
#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/convert_to_job_file.hpp"
#include "schedulers/scripts/request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

// "64GiB"; rounded up to KiB.
std::string memory_text(std::uint64_t bytes);

// Of a node; 0: not requested.
std::uint64_t memory_of_node(const ResourceRequest& request, const Chunk& chunk, std::uint64_t ranks);
std::string constraint_of(const ResourceRequest& request, const Chunk& chunk);
std::string hosts_of(const ResourceRequest& request);

// "NAME" of the assignment, and its value.
std::pair<std::string, std::string> split_assignment(const std::string& text);

// ddlrun sets these for each rank from the plan, or others in their place.
bool is_thread_variable(std::string_view name);
// What ddlrun sets instead, and when (topology/affinity/thread_settings.cpp). `threads`: 0 for a computed
// number.
std::string explain_thread_variable(std::string_view name, std::uint64_t threads);

// True where mpirun or srun gives one host all its ranks before the next host gets one: their default.
bool fills_hosts(const ShellCommand& command);

// Why a launcher's own option is not in the job file, and what may be there in its place.
std::string explain_left_out(std::string_view option);

bool is_submit_directory(std::string_view word);

// Of "module load a b" and "ml a b"; nothing for what must stay a line.
std::optional<std::vector<std::string>> modules_of(const ShellCommand& command);
bool purges_modules(const ShellCommand& command);
// "venv" or "conda", and its value, of "source /v/bin/activate", "source activate x" and "conda activate x".
std::optional<std::pair<std::string, std::string>> python_environment_of(const ShellCommand& command);
// What "mpirun -x A -x B=1" and "mpiexec -genv B 1" pass on, of the words before `end`: "A", "B=1"; and each
// as the line has it, with its quotes.
std::vector<std::pair<std::string, std::string>> exports_of_launcher(const ScriptLine& line,
                                                                     const ShellCommand& command,
                                                                     std::size_t end);

// Whether another process than the script's own has the program.
bool starts_ranks(const JobScript& script, const UnwrapLauncher& unwrap);

}  // namespace ddlrun::job_scripts
