// SPDX-License-Identifier: MIT
// A launch line word by word; what all launchers' lines have in common.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// Variables that are set here and that the MPI library reads itself, in the launcher's own family: mpirun
// passes its own kind on unasked.
std::vector<std::string> find_library_variables(const EnvVars& environment,
                                                std::initializer_list<std::string_view> beginnings);

// For lists that a launcher passes on: each name stands there once.
void add_once(std::vector<std::string>& names, const std::string& name);

// Adds words and their reason together, so that none goes without.
class CommandBuilder {
 public:
  explicit CommandBuilder(const LaunchRequest& request);

  // The launcher's own name needs no reason.
  void start(const std::string& launcher) { line_.argv.push_back(launcher); }
  void add(std::vector<std::string> words, std::string why);
  // Variables that the launcher must not see: "env -u NAME" before start(); nothing without names.
  void leave_out(const std::vector<std::string>& names, std::string why);
  // A variable that the launcher itself reads.
  void set(const std::string& name, std::string value, std::string why);
  // The same, but the user's own value holds: from here or by -x.
  void set_unless_given(const EnvVars& environment, const std::string& name, std::string value,
                        std::string why);
  // For words that were given as they are.
  void add_asked(const std::vector<std::string>& words);
  void add_file(std::string path, std::string text) {
    line_.files.push_back({std::move(path), std::move(text)});
  }
  void set_forwards_end() { line_.forwards_end = true; }
  // The names of all variables for the ranks, including that of the rank map.
  const std::vector<std::string>& names() const { return names_; }
  std::string reason_of(const std::string& name) const;
  // One reason a name, where all stand in one word.
  void add_name_reasons();
  // With what each rank executes at the end.
  LaunchCommand finish() &&;

 private:
  void take_rank_map();

  const LaunchRequest& request_;
  RankProgram program_;
  std::vector<std::string> names_;
  LaunchCommand line_;
};

}  // namespace ddlrun::launch
