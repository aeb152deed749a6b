// SPDX-License-Identifier: MIT
// What a centre wants of every job, as data: one YAML file in templates/profiles/, below sites/ in a
// directory of configuration, or named by --site FILE.
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
  bool is_builtin = false;              // it came with ddlrun
};

// Those that came with ddlrun: name, text of the file.
std::vector<std::pair<std::string, std::string_view>> builtin_profiles();
// The profiles that came with ddlrun, by name.
std::vector<std::string> known_profiles();
// The plain one of a scheduler: "generic-slurm"; nothing for a scheduler without one ("local").
std::optional<std::string> generic_profile(std::string_view scheduler);
// Whether a word is a file (it has a '/' or ends in .yaml), and not the name of a profile.
bool names_profile_file(std::string_view word);
// A name of those that came with ddlrun, or a file, which `read_file` reads. Error{request} with place for a
// bad file, with the nearest name of all for an unknown one; `centre` are the names of the centre's own.
SiteProfile load_profile(const std::string& name_or_file,
                         const std::function<std::string(const std::string& path)>& read_file,
                         const std::vector<std::string>& centre = {});

}  // namespace ddlrun::templates
