// SPDX-License-Identifier: MIT
// Which programs a launch needs, found before anything is started: the user's or the bundled
// trainer.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

struct ChosenProgram {
  Command command;
  bool is_trainer = false;
};

// Words that begin with a program are that program; none, or options only, mean the bundled
// trainer: beside our binary, in ../runtime of it, or in PATH. With `must_exist` (a rank runs on
// this machine) a program that is not here is Error{request}.
ChosenProgram choose_program(System& system, const std::vector<std::string>& words, bool must_exist);

// The bundled trainer is installed here.
bool has_trainer(System& system);

// Error{request} if there is no such program here; `place`: where it is named, if not on the command line.
void check_program(System& system, const std::string& name, const std::string& place = {});

// For ranks on other hosts only: Error{request} if the program is a file here that cannot run, on the file
// tree of the working directory, which the hosts are supposed to share. One that is not here may be there.
void check_shared_program(System& system, const std::vector<std::string>& words);

// Lets the bundled trainer judge its own options, in one process that starts nothing: its message goes to
// system.err, and its status, 2 or 3, is returned; 0: nothing is known against them. `files_count`: a file
// that is missing here is a fault, for ranks will run here, in this directory.
int check_trainer_options(System& system, const ChosenProgram& program, std::size_t ranks, bool files_count);
// The same for any `command` that only judges.
int run_option_check(System& system, const Command& command, bool files_count);

// Error{request} if Open MPI's mpirun would refuse because we are root.
void check_not_root(const Environment& environment, bool allowed);

}  // namespace ddlrun::launch
