// SPDX-License-Identifier: MIT
#include "cli/forgotten_dashes.hpp"

#include "base/os/host_info.hpp"
#include "base/os/program_path.hpp"
#include "topology/dims.hpp"
#include "topology/plan_options.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace ddlrun::cli {

namespace {

bool names_program(System& system, const std::string& word) {
  if (topology::is_dims_word(word) || word[0] == '@' || topology::is_this_host(system.environment, word))
    return false;
  return word.find('/') != std::string::npos || !find_program(system, word).empty();
}

std::optional<FileInfo> find_file(System& system, const std::string& word) {
  return system.kernel == nullptr ? std::nullopt : system.kernel->file_info(word, true);
}

// A path that exists and is not executable, such as a directory of photos.
bool is_data(System& system, const std::string& word) {
  const auto info = find_file(system, word);
  return info && (info->kind != FileInfo::Kind::file || (info->mode & 0111U) == 0);
}

// mpirun's options without a value for what launch shows or does anyway.
bool is_needless(const std::string& word) {
  const std::size_t name = word.find_first_not_of('-');
  if (name != 1 && name != 2) return false;
  return word.substr(name) == "report-bindings" || word.substr(name) == "display-map";
}

// mpirun's binding and mapping, which launch refuses, as options of launch.
Command with_own_placement(const Command& words) {
  Command own;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_needless(words[i])) continue;
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    const bool maps = name == "--map-by" || name == "-map-by",
               binds = name == "--bind-to" || name == "-bind-to";
    const bool has_value = equals != std::string::npos || i + 1 < words.size();
    const std::string value = equals != std::string::npos ? words[i].substr(equals + 1)
                              : has_value                 ? words[i + 1]
                                                          : "";
    const Command placed = maps ? topology::own_words_of_unit(value) : Command();
    const bool is_left_out = binds && value != "core" && value != "none";
    if (!has_value || (placed.empty() && !is_left_out)) {
      own.push_back(words[i]);
      continue;
    }
    own.insert(own.end(), placed.begin(), placed.end());
    if (equals == std::string::npos) ++i;
  }
  return own;
}

ForgottenDashes describe_dashes(System& system, const std::string& command, const Command& words,
                                const std::string& first) {
  const auto info = find_file(system, first);
  const bool is_directory = info && info->kind == FileInfo::Kind::directory;
  Command dashes{"--"};
  if (is_directory) dashes.emplace_back("--data");
  const auto program = std::find(words.begin(), words.end(), first);
  Command proposed = with_own_placement({words.begin(), program});
  proposed.insert(proposed.end(), dashes.begin(), dashes.end());
  proposed.insert(proposed.end(), program, words.end());
  const std::string what = first.starts_with('-')
                               ? "no option of " + command + "; put options of the program after --"
                           : is_directory ? "a directory; put the program's data after --"
                                          : "a program; put programs after --";
  return {first, what, std::move(proposed)};
}

}  // namespace

ForgottenDashes find_forgotten_dashes(System& system, const CLI::App& app, const Command& words,
                                      const std::function<bool(const std::string&)>& is_mistyped) {
  if (app.get_option_no_throw("WORD") != nullptr) return {};  // submit reads such words itself
  const std::vector<std::string> unknown = app.remaining();
  const auto option = std::ranges::find_if(unknown, [](const std::string& w) { return w.starts_with('-'); });
  std::vector<std::string> candidates;
  for (const char* name : {"DIMS", "HOSTS"}) {
    const CLI::Option* place = app.get_option_no_throw(name);
    if (place == nullptr) continue;
    candidates.insert(candidates.end(), place->results().begin(), place->results().end());
  }
  candidates.insert(candidates.end(), unknown.begin(), option);
  const auto is_program = [&](const std::string& word) {
    return names_program(system, word) && !(option != unknown.end() && is_data(system, word));
  };
  const auto program = std::ranges::find_if(candidates, is_program);
  if (program != candidates.end()) return describe_dashes(system, app.get_name(), words, *program);
  if (option == unknown.end() || !option->starts_with("--") || is_mistyped(*option)) return {};
  if (std::any_of(option + 1, unknown.end(), is_program)) return {};  // then the option is not the program's
  return describe_dashes(system, app.get_name(), words, *option);
}

}  // namespace ddlrun::cli
