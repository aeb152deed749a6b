// SPDX-License-Identifier: MIT
// What a subcommand is: a name, one line of help, a function that declares its options, a function that runs.
#pragma once

#include "base/os/system.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

// What runs after parsing. Returns the process exit status; throws Error where it cannot go on.
using Run = std::function<int(System&)>;

struct GlobalOptions {
  int verbosity = 0;   // -v: trace each call of the OS interfaces
  bool quiet = false;  // -q: errors, and the end of what failed
};

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;    // last in --help
  std::string_view notes = {};  // before the examples: paragraphs about behaviour and exit status
  // Declares the options on `app` and returns what to run. `rest` holds the words after "--".
  std::function<Run(CLI::App& app, const std::vector<std::string>& rest)> setup;
  bool takes_program = false;  // words after "--" are a program, not an error
  bool hidden = false;
  bool is_launch = false;              // starts ranks as launch does, without all of its options
  std::string_view may_be_empty = {};  // an option for which '' means the default; other options reject ''
};

// All of them, in the order of the help.
const std::vector<Subcommand>& subcommands();

}  // namespace ddlrun::cli
