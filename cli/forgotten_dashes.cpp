// SPDX-License-Identifier: MIT
#include "cli/forgotten_dashes.hpp"

#include "base/os/program_path.hpp"
#include "topology/dims.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace ddlrun::cli {

namespace {

bool names_program(System& system, const std::string& word) {
  if (topology::is_dims_word(word) || word[0] == '@' || topology::is_this_host(system.environment, word))
    return false;
  return word.find('/') != std::string::npos || !find_program(system, word).empty();
}

}  // namespace

ForgottenDashes find_forgotten_dashes(System& system, const CLI::App& app, const Command& words) {
  if (app.get_option_no_throw("WORD") != nullptr) return {};  // submit reads such words itself
  std::vector<std::string> candidates;
  for (const char* name : {"DIMS", "HOSTS"}) {
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    candidates.insert(candidates.end(), option->results().begin(), option->results().end());
  }
  const std::vector<std::string> unknown = app.remaining();
  candidates.insert(candidates.end(), unknown.begin(), unknown.end());
  for (const std::string& word : candidates) {
    if (word.starts_with('-')) return {};  // a mistyped option of ours, with its value behind it
    if (!names_program(system, word)) continue;
    ForgottenDashes found{word, words};
    found.words.insert(std::find(found.words.begin(), found.words.end(), word), "--");
    return found;
  }
  return {};
}

}  // namespace ddlrun::cli
