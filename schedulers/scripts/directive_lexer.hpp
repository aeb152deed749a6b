// SPDX-License-Identifier: MIT
// The options of a directive line, cut as sbatch and qsub cut them, and the names they answer to.
#pragma once

#include "schedulers/scripts/job_script.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

// "-N2 --time=1:00" -> {"-N","2"}, {"--time","1:00"}. `line` is the whole physical line, `from` the first
// byte behind the sentinel.
std::vector<Directive> read_slurm_options(std::string_view line, std::size_t from, int number);
std::vector<Directive> read_pbs_options(std::string_view line, std::size_t from, int number);

// -v A="x,y",B -> {"A=x,y", "B"}: commas in quotes belong to a value.
std::vector<std::string> cut_variable_list(std::string_view line, const Directive& option);

// The long name that sbatch understands: "-N" and "--node" -> "nodes"; nothing if it has no such option or
// if the abbreviation is ambiguous.
std::optional<std::string> slurm_option_name(std::string_view option);
// Long names that begin with an ambiguous or unknown abbreviation, and all of them.
std::vector<std::string> slurm_options_like(std::string_view option);
const std::vector<std::string>& all_slurm_options();
bool takes_value_slurm(std::string_view option);  // "-N", "--nodes"
bool takes_value_pbs(char letter);
bool is_pbs_option(char letter);     // of OpenPBS's qsub
bool is_torque_option(char letter);  // of Torque's, and not of OpenPBS's

}  // namespace ddlrun::job_scripts
