// SPDX-License-Identifier: MIT
#include "cli/unknown_words.hpp"

#include "base/os/host_info.hpp"
#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "cli/foreign_options.hpp"
#include "schedulers/job/job_settings.hpp"
#include "topology/dims.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ddlrun::cli {

namespace {

// As qsub and sbatch do.
bool submits(const CLI::App& app) { return takes_option(app, "--queue"); }

// A path or a name of a file, not of a host. Without `has_program` a path may be the program itself.
bool names_output_file(System& system, const std::string& word, bool has_program) {
  constexpr std::array<std::string_view, 6> ends{".log", ".txt", ".out", ".err", ".output", ".logs"};
  if (topology::is_dims_word(word) || word.starts_with('-') || word.starts_with('@')) return false;
  if (std::ranges::any_of(ends, [&](std::string_view end) { return word.ends_with(end); })) return true;
  return word.find('/') != std::string::npos && (has_program || find_program(system, word).empty());
}

// One name that this machine does not know for a host: it would become one of the job. ssh may know it by its
// own configuration.
bool names_no_host(System& system, const std::string& word) {
  if (system.kernel == nullptr || topology::is_dims_word(word) || !is_host_name(word)) return false;
  if (topology::is_this_host(system.environment, word)) return false;
  return system.kernel->find_addresses(word).addresses.empty();
}

std::string_view remedy_for_option(const CLI::App& app, const std::string& word) {
  if (submits(app)) return remedy_for_job_option(word);
  const std::string_view foreign = starts_ranks(app) ? remedy_for_foreign_option(word) : "";
  return foreign.empty() && takes_option(app, "--sockets") ? remedy_for_machine_option(word) : foreign;
}

// The remedy for an unexpected argument: often hosts separated by blanks.
std::string hint_for_extra(const CLI::App& app, const std::string& word) {
  const CLI::Option* hosts = app.get_option_no_throw("HOSTS");
  const bool is_host = is_host_name(word.substr(word.rfind('@') + 1));  // npos + 1 is 0
  if (hosts == nullptr || hosts->count() == 0 || !is_host) return app.get_name() + " --help";
  return fmt::format("join hosts with commas: {},{}", hosts->as<std::string>(), word);
}

// The remedy for an unknown option where a program may follow: mpirun's -n, or an option of the program.
std::string hint_for_option(const CLI::App& app, const std::string& word) {
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const std::string name = to_upper(bare);
  const CLI::Option* place = name.empty() ? nullptr : app.get_option_no_throw(name);
  if (place != nullptr && place->get_positional())
    return fmt::format("{} is an argument without dashes: {} {}", name, app.get_name(), name);
  return fmt::format("{} --help; options of the program go after '--'", app.get_name());
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// The dashes, which all options have, make no two of them alike: --site is no slip of --smt.
bool is_slip_of_option(std::string_view word, std::string_view option) {
  if (option.find(word) != std::string_view::npos) return true;
  const std::string_view typed = without_dashes(word), meant = without_dashes(option);
  const std::size_t allowed = std::max<std::size_t>(1, std::max(typed.size(), meant.size()) / 3);
  return edit_distance(typed, meant) <= allowed;
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool takes_option(const CLI::App& app, const std::string& name) {
  const auto names = option_names(app);
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_ranks(const CLI::App& app) { return takes_option(app, "--mpi-arg"); }

std::optional<std::string> find_meant_option(const CLI::App& app, const std::string& typed) {
  if (typed.size() <= 3) return std::nullopt;
  const std::string word = typed.substr(0, typed.find('='));
  const auto names = option_names(app);
  const std::size_t start = std::min(word.find_first_not_of('-'), word.size());
  std::string meant(schedulers::key_of_foreign_word(word.substr(start)));
  std::replace(meant.begin(), meant.end(), '_', '-');
  if (!meant.empty() && std::find(names.begin(), names.end(), "--" + meant) != names.end())
    return "--" + meant;
  const auto near = closest_match(word, names);
  return near && is_slip_of_option(word, *near) ? near : std::nullopt;
}

void refuse_word(const CLI::App& app, const std::string& word, bool takes_program) {
  const bool is_option = word.size() > 1 && word[0] == '-';
  std::string hint = is_option ? app.get_name() + " --help" : hint_for_extra(app, word);
  const bool is_count = word == "-n" || word == "-np" || word == "--np";
  if (is_count && app.get_option_no_throw("DIMS") != nullptr)
    hint = "DIMS, the ranks of a host and the hosts: 4x2 h1,h2 is 4 ranks on each of 2 hosts";
  if (is_option && takes_program) hint = hint_for_option(app, word);
  const std::string_view foreign = remedy_for_option(app, word);
  if (!foreign.empty()) hint = foreign;
  const auto near = is_option && foreign.empty() ? find_meant_option(app, word) : std::nullopt;
  throw Error(ErrorKind::usage, {fmt::format("unknown {} '{}' of {}", is_option ? "option" : "argument",
                                             printable(word, 60), app.get_name()),
                                 "", near.value_or(hint)});
}

void refuse_queue_letter(const CLI::App& app, const std::vector<std::string>& words) {
  const auto letter = std::find(words.begin(), words.end(), "-q");
  if (!submits(app) || letter == words.end() || letter + 1 == words.end()) return;
  const std::string& value = *(letter + 1);
  if (value.starts_with('-') || topology::is_dims_word(value)) return;
  const std::string shown = quote_shell(value);
  throw Error(ErrorKind::usage,
              {fmt::format("-q is --quiet, and '{}' follows it", printable(value, 60)), "-q",
               fmt::format("--queue {0}   # or --quiet {0}, if it is a host", shown)});
}

void refuse_tee_file(System& system, const CLI::App& app, const std::vector<std::string>& words,
                     const std::vector<std::string>& program) {
  if (!takes_option(app, "--tee") || takes_option(app, "--queue")) return;
  for (std::size_t i = 0; i < words.size(); ++i) {
    constexpr std::string_view lead = "--tee=";
    const bool is_attached = words[i].starts_with(lead);
    if (!is_attached && (words[i] != "--tee" || i + 1 == words.size())) continue;
    const std::string file = is_attached ? words[i].substr(lead.size()) : words[i + 1];
    if (file.empty() || file == "true" || file == "false") continue;
    const bool is_file = is_attached || names_output_file(system, file, !program.empty());
    if (!is_file && !names_no_host(system, file)) continue;
    Command meant = words;
    if (is_attached)
      meant[i] = "--tee";
    else
      meant.erase(meant.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (!program.empty()) meant.emplace_back("--");
    meant.insert(meant.end(), program.begin(), program.end());
    throw Error(
        ErrorKind::usage,
        {fmt::format("--tee takes no file, and '{}' follows it{}", printable(file, 60),
                     is_file ? "" : "; no host has that name"),
         "--tee",
         fmt::format(
             "{} {}   # writes RUN/out/rank-0000.out and .err for each rank; --run-dir DIR: DIR is RUN{}",
             app.get_name(), printable(render_shell(meant), 300),
             is_file ? "" : "; a host stands before --tee")});
  }
}

}  // namespace ddlrun::cli
