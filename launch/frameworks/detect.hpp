// SPDX-License-Identifier: MIT
// Which framework a program is made with: from its arguments, its libraries and what its script imports,
// never from a file's name alone.
#pragma once

#include "base/os/system.hpp"
#include "launch/frameworks/framework.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

struct Detection {
  Framework framework = Framework::none;
  std::string why;           // what it was seen by; empty: nothing was seen
  bool flags_style = false;  // TensorFlow: the script reads --ps_hosts and --worker_hosts
  bool chief = false;        // TensorFlow: its strategy has a coordinator of its own
  bool doubtful = false;     // there are signs, but they do not decide
  bool torch = false;        // the script names torch.distributed, beside whatever else
  bool needs_mpi = false;    // who is who it asks MPI, and nothing else
};

// The text begins with "#!" and a Python, or was named to a Python.
bool is_python_script(const Command& program, std::string_view text);

struct PythonModule {
  std::string name;  // "strategy.py", for people
  std::string text;
};

struct DetectRequest {
  Command program;
  std::string script;                      // text of the script's first part, "" where there is none
  std::string script_name;                 // for people
  std::vector<std::string> libraries;      // what the program is linked with, where it was looked for
  std::vector<PythonModule> modules = {};  // those that the script imports from its own directory
};

Detection detect_framework(const DetectRequest& request);
// The one line that people read; "" where nothing was seen.
std::string render_detection(const Detection& detection);

}  // namespace ddlrun::frameworks
