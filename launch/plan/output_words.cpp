// SPDX-License-Identifier: MIT
#include "launch/plan/output_words.hpp"

#include "base/text/error.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace ddlrun::launch {

namespace {

using OptionNames = std::initializer_list<std::string_view>;

bool has_part(std::string_view word, OptionNames parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return word.find(part) != word.npos; });
}

bool is_among(std::string_view word, OptionNames words) { return std::ranges::count(words, word) > 0; }

// srun's short options as getopt reads them (Slurm 22.05 and 24.11): letters without a value may stand
// together, and a value may follow its letter at once. "-ulo" and "-oFILE" have the letter 'o'.
bool has_short_option(std::string_view word, std::string_view letters) {
  constexpr std::string_view without_value = "EHKOQVXZhklsuv";
  if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
  for (const char letter : word.substr(1)) {
    if (letters.find(letter) != letters.npos) return true;
    if (without_value.find(letter) == without_value.npos) return false;
  }
  return false;
}

// getopt takes a beginning of a long option that no other option has: "--err=FILE".
bool has_long_option(std::string_view word, OptionNames names) {
  constexpr std::size_t dashes = 2, fewest = 2;
  if (!word.starts_with("--")) return false;
  const std::string_view typed = word.substr(dashes, word.substr(0, word.find('=')).size() - dashes);
  return typed.size() >= fewest &&
         std::ranges::any_of(names, [&](std::string_view name) { return name.starts_with(typed); });
}

}  // namespace

std::string typed_output(const OutputSpec& output) {
  if (output.mode == OutputSpec::Mode::screen) return "--tee";
  return output.mode == OutputSpec::Mode::files ? "--rank-output files" : "--rank-output prefix";
}

// srun writes stderr to the file of --output too, where --error names no other.
bool redirects_stderr(std::optional<LauncherKind> kind, const std::vector<std::string>& mpi_arguments) {
  return std::ranges::any_of(mpi_arguments, [&](std::string_view word) {
    if (kind == LauncherKind::srun)
      return has_short_option(word, "oe") || has_long_option(word, {"output", "error"});
    return word.starts_with('-') && has_part(word, {"output-filename", "merge-stderr", "xml", "errfile"});
  });
}

void check_frames_arrive(const OutputSpec& output, std::optional<LauncherKind> kind,
                         const std::vector<std::string>& mpi_arguments) {
  if (!output.is_framed() || !redirects_stderr(kind, mpi_arguments)) return;
  const std::string typed = typed_output(output);
  throw Error(ErrorKind::usage, {typed + " needs the ranks' stderr, which an --mpi-arg redirects",
                                 "--mpi-arg", typed + " without that --mpi-arg"});
}

bool shapes_output(LauncherKind kind, const LauncherWords& words, const EnvVars& environment) {
  const OptionNames parts = {"label",  "prepend", "outfile", "errfile",
                             "output", "error",   "xterm",   "timestamp"};
  const OptionNames variables = {"SLURM_LABELIO",
                                 "SLURM_STDOUTMODE",
                                 "SLURM_STDERRMODE",
                                 "OMPI_MCA_orte_tag_output",
                                 "OMPI_MCA_orte_timestamp_output",
                                 "OMPI_MCA_orte_output_filename"};
  const auto is_option = [&](std::string_view word) {
    if (kind == LauncherKind::srun)
      return has_short_option(word, "loe") || has_long_option(word, {"label", "output", "error"});
    return word.starts_with('-') && (has_part(word, parts) || is_among(word, {"-l", "-o", "-e"}));
  };
  return words.tag_output || std::ranges::any_of(words.mpi_arguments, is_option) ||
         std::ranges::any_of(words.mca,
                             [&](const auto& setting) { return has_part(setting.first, parts); }) ||
         std::ranges::any_of(variables,
                             [&](std::string_view name) { return environment.contains(std::string(name)); });
}

}  // namespace ddlrun::launch
