// SPDX-License-Identifier: MIT
// Words of a command line that a command does not take: what was meant, and the error for it.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

std::vector<std::string> option_names(const CLI::App& app);  // "--np", "-n"
bool takes_option(const CLI::App& app, const std::string& name);
bool starts_ranks(const CLI::App& app);  // as mpirun, srun and torchrun do

// The intended option: "--wallclock" is --walltime if the command has it, else the nearest name.
std::optional<std::string> find_meant_option(const CLI::App& app, const std::string& typed);

// Error{usage} with the remedy for that option or argument.
[[noreturn]] void refuse_word(const CLI::App& app, const std::string& word, bool takes_program);

// Error{usage} for qsub's "-q normal", which would be --quiet and a host.
void refuse_queue_letter(const CLI::App& app, const std::vector<std::string>& words);

// Error{usage} for "--tee FILE" and "--tee=FILE": --tee takes no file, and FILE would be a host. `program`:
// the words after "--".
void refuse_tee_file(System& system, const CLI::App& app, const std::vector<std::string>& words,
                     const std::vector<std::string>& program);

}  // namespace ddlrun::cli
