// SPDX-License-Identifier: MIT
// The user's settings of a job, key by key and each with its place: a line of ddlrun.yaml, a flag, a site
// profile. Layers are laid over each other before anything is converted, so a fact has one spelling and one
// check.
#pragma once

#include "base/text/error.hpp"
#include "base/text/yaml_tree.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct Setting {
  YamlValue value;
  std::string origin;  // "ddlrun.yaml:3:7", "--walltime", "profile kisti-nurion", "DDLRUN_QUEUE"
};

// By key, as ddlrun.yaml spells it; a flag is the key with '-' for '_'.
using JobSettings = std::map<std::string, Setting>;

constexpr std::uint64_t max_settings_bytes = 1u << 20;  // of a ddlrun.yaml

// A key that a job may have; the one table behind ddlrun.yaml, the flags, and the list in --help.
struct JobKey {
  std::string_view name;   // "cores_per_node"
  std::string_view group;  // heading in --help
  // Value name in --help: "N", "HH:MM:SS"; "": the key has no option, only a line in a file.
  std::string_view value;
  std::string_view summary;  // one line
  // The value that applies where no layer has the key; "" where none does, or other keys determine it.
  std::string_view standard = {};
};
std::span<const JobKey> job_keys();

// The key that a word means: itself, or "queue" for "partition"; "" if there is none.
std::string_view canonical_key(std::string_view word);

// The message about an unknown key; the hint is the nearest key.
Message unknown_key(std::string_view word, std::string where);

// The key that a word of other tools stands for ("wallclock", "job-name"); "" if it is none of those.
std::string_view key_of_foreign_word(std::string_view word);

// The settings of one YAML document. Unknown keys are added to `errors`, each with its place and the
// nearest key; Error{request} where the text is no YAML mapping.
JobSettings read_job_settings(std::string_view text, const std::string& file_name,
                              std::vector<Message>& errors);

// The text of one setting; "" where the key has none.
std::string text_of(const JobSettings& settings, const std::string& key);

// `over` wins, key by key.
JobSettings merge_settings(JobSettings over, const JobSettings& under);

// A flag's or variable's text as a setting. Lists are split at commas where the key takes a list of names;
// one of the environment only where each piece is clearly a NAME or NAME=value.
Setting flag_setting(std::string_view key, const std::string& text, std::string origin);
// A flag that was given several times.
Setting repeated_flag_setting(std::string_view key, const std::vector<std::string>& texts,
                              const std::string& origin);

// Words that are already apart, such as what stands behind `--`.
Setting list_setting(const std::vector<std::string>& words, std::string origin);

// Where a part of a setting stands: its own line and column in the setting's file, else the setting's origin.
std::string place_of(const Setting& setting, const YamlValue& part);

// In the order of the files: by file, line and column; what stands in no line comes last, in its
// order.
std::vector<Message> sorted_by_place(std::vector<Message> messages);

}  // namespace ddlrun::schedulers
