// SPDX-License-Identifier: MIT
// A program whose "--" was left out: "launch 2x2 h1,h2 ./prog --steps 9".
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

struct ForgottenDashes {
  std::string program;  // "": no word is a program
  Command words;        // those typed, and "--" before the program
};

// Of words that `app` has parsed. A program is a path, or a name that PATH has and that is not this host's.
ForgottenDashes find_forgotten_dashes(System& system, const CLI::App& app, const Command& words);

}  // namespace ddlrun::cli
