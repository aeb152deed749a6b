// SPDX-License-Identifier: MIT
// What an error message names: a path, a library, an option, a variable; and what it advises.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// The path that the message is about, or "": one in quotes, or a word with '/'; never a web address, nor a
// place in a source file such as "src/a.c:12".
std::string path_in(std::string_view message);

// "libfoo.so.2" in the message, or "".
std::string library_in(std::string_view message);

// The port of an address in the message: 29511 in "port: 29511", "[::]:29511", "(node1, 29511)" and
// "node1:29511 (errno"; or "".
std::string port_in(std::string_view message);

// "run.sh" in "run.sh: line 14: " and "run.sh: 14: " of a shell, or ""; never a scheduler's copy of a job
// script, which is gone after the job.
std::string script_in(std::string_view message);

// "run.cfg" in "line 14 of run.cfg", or "".
std::string file_with_line(std::string_view message);

// "--foo" in the message, or "".
std::string option_in(std::string_view message);

// The variable of the environment that the message names, or "": "$NAME", one of a known library, or one in
// capitals beside the words "environment variable".
std::string variable_in(std::string_view message);

// The longest part of a message that its program holds as a fixed text: no numbers, names or paths; or "".
std::string searchable_part(std::string_view message);

// The sentence that says what to do ("Please add #SBATCH --nodes=NN"), or "".
std::string advice_in(std::string_view message);

}  // namespace ddlrun::diagnose
