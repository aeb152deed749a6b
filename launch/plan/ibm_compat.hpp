// SPDX-License-Identifier: MIT
// The command line of IBM's ddlrun (PowerAI, WML CE): `ddlrun -H h1,h2 --accelerators 4 -m b python
// mnist.py`, turned into the words of `ddlrun launch`. Pure.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct IbmTranslation {
  Command words;                     // of ddlrun: "launch", ...
  std::vector<std::string> dropped;  // options of Spectrum MPI without a meaning here, as typed, each once
};

// Everything behind "ddlrun". Nothing where it is not IBM's form: neither an option of theirs nor
// `first_is_program` (no command of ours, but one that can be run), or a command of ours behind the options.
// Error{usage}: an option without its value, or no program.
std::optional<IbmTranslation> translate_ibm_command(const Command& words,
                                                    const std::vector<std::string>& our_commands,
                                                    bool first_is_program, const EnvVars& environment);

}  // namespace ddlrun::launch
