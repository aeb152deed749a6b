// SPDX-License-Identifier: MIT
// Remedies in the words of the run: options of `ddlrun submit` in its jobs, and the program's own name. Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// "ddlrun launch --verify ...", "sbatch --time=HH:MM:SS ...", "more memory (--mem)" as options of submit.
// What submit has no option for stays as it is. `submit`: "ddlrun submit", with the runner that options of
// launch need. A command that becomes a line of ddlrun.yaml is a remedy for itself.
std::vector<std::string> as_submit_remedies(const std::string& remedy, LogSource scheduler,
                                            std::string_view submit);

// PROGRAM as a word: "PROGRAM --help" -> "python3 train.py --help", "ldd PROGRAM" -> "ldd $(command -v
// python3)", "torchrun PROGRAM" -> "torchrun train.py".
std::string name_program(std::string remedy, std::span<const std::string> program);

// "--nnodes=NODES --nproc_per_node=RANKS" of torchrun with these numbers; 0: not known, the word stays.
std::string name_shape(std::string remedy, std::uint32_t nodes, std::uint32_t ranks_per_node);

// Without the advice to end a run that stalls, for a run that has it; "" if nothing else is left.
std::string without_stall_advice(std::string remedy);

}  // namespace ddlrun::diagnose
