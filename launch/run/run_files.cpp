// SPDX-License-Identifier: MIT
#include "launch/run/run_files.hpp"

#include "base/text/text.hpp"

#include <set>

namespace ddlrun::launch {

std::string render_argv_file(const Command& argv, const std::string& pasteable) {
  std::string text = "# " + pasteable + "\n";
  // A pasteable line with newlines would leave its comment: then only the words are written.
  if (pasteable.find('\n') != std::string::npos)
    text = "# some words hold newlines: argv.nul has them exactly\n";
  for (const std::string& word : argv) text += quote_shell(word) + "\n";
  return text;
}

std::string render_argv_nul(const Command& argv) {
  std::string text;
  for (const std::string& word : argv) text += word + '\0';
  return text;
}

std::string render_environment_names(const EnvVars& environment, const Exports& exports) {
  std::set<std::string> names(exports.names.begin(), exports.names.end());
  std::string text;
  for (const std::string& name : names) text += "exported " + name + "\n";
  for (const auto& [name, value] : environment) {
    if (names.count(name) == 0) text += "present " + printable(name) + "\n";
  }
  return text;
}

}  // namespace ddlrun::launch
