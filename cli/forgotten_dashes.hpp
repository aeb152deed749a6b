// SPDX-License-Identifier: MIT
// A program whose "--" was left out: "launch 2x2 h1,h2 ./prog --steps 9", "launch 2 --data photos".
#pragma once

#include "base/os/system.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

struct ForgottenDashes {
  std::string first;  // word of the program: its name, or an option of the bundled trainer; "": none is
  std::string what;   // "a program; put programs after --"
  Command words;      // those typed, and "--" before that word; "-- --data" before a directory
};

// Of words that `app` has parsed. A program is a path, or a name that PATH has and that is not this host's.
// The first option that launch does not have is the trainer's, unless `is_mistyped` or before a program.
ForgottenDashes find_forgotten_dashes(System& system, const CLI::App& app, const Command& words,
                                      const std::function<bool(const std::string&)>& is_mistyped);

}  // namespace ddlrun::cli
