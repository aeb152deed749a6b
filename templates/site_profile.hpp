// SPDX-License-Identifier: MIT
// What a centre wants of every job, as data: one YAML file in templates/profiles/, in the user's
// configuration directory or named by --site FILE.
#pragma once

#include "base/text/error.hpp"
#include "base/text/yaml_tree.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::templates {

// A rule whose breach is an error of the job: the centre would refuse it or let it wait forever.
struct SiteProfile {
  std::string name;       // "kisti-nurion"
  std::string title;      // "KISTI Nurion: Cray CS500, KNL 68 cores, Omni-Path"
  std::string file;       // where it was read
  std::string source;     // the public document that its facts come from
  std::string scheduler;  // "pbs", "slurm", "torque", "local"
  // Settings of ddlrun.yaml that the profile gives, each with its place; the user's own win.
  std::vector<YamlField> defaults;
  std::vector<std::string> required;        // keys that a job must have: "application", "walltime"
  std::string application_directive;        // how `application` is carried: "-A {}", "--comment={}"
  std::vector<std::string> submit_below;    // jobs start only below these directories: "/scratch"
  std::uint64_t walltime_most_seconds = 0;  // 0: no limit known
  std::vector<std::pair<std::string, std::uint64_t>> queue_walltimes;  // by queue
  std::vector<std::string> preamble;    // shell lines of the site's, after the modules
  std::vector<std::string> directives;  // verbatim: "-W sandbox=PRIVATE"
};

// Those that came with ddlrun: name, text of the file.
std::vector<std::pair<std::string, std::string_view>> builtin_profiles();
// The profiles that came with ddlrun, by name.
std::vector<std::string> known_profiles();
// The plain one of a scheduler: "generic-slurm"; nothing for a scheduler without one ("local").
std::optional<std::string> generic_profile(std::string_view scheduler);
// A name of those, or a file (a word with a '/' or ending in .yaml; `read_file` reads it). Error{request}
// with place for a bad file, with the nearest names for an unknown one.
SiteProfile load_profile(const std::string& name_or_file,
                         const std::function<std::string(const std::string& path)>& read_file);

}  // namespace ddlrun::templates
