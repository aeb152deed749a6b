// SPDX-License-Identifier: MIT
// Horovod's settings as horovodrun takes them: flags and a YAML file, both become HOROVOD_ variables, flags
// win. Names, sections and conversions are those of horovod/runner/common/util/config_parser.py; for
// torus_allreduce, which the core reads (operations.cc), horovodrun has no word.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

enum class HorovodKind { megabytes, number, count, share, yes_no, no_yes, text, level, cores };

struct HorovodKey {
  std::string_view section, key;  // of the YAML file
  std::string_view flag;          // "--fusion-threshold-mb"
  std::string_view variable;
  HorovodKind kind;
  std::string_view help;
  std::string_view needs = "";  // "section.key" without which Horovod does not look at it
};

std::span<const HorovodKey> horovod_keys();
std::string key_name(const HorovodKey& key);  // "params.fusion_threshold_mb"

// "section.key" -> value as typed, and where: "--cycle-time-ms", "horovod.yaml:3:18".
struct HorovodValue {
  std::string text;
  std::string place;

  bool operator==(const HorovodValue&) const = default;
};
using HorovodSettings = std::map<std::string, HorovodValue>;

// Lays the file under what is set already. Error{request} at FILE:LINE:COLUMN for a key that it does not
// know.
void read_horovod_yaml(std::string_view text, const std::string& file_name, HorovodSettings& settings);

// The variable's value. Error{usage} at its place.
std::string convert_horovod(const HorovodKey& key, const HorovodValue& value);

// Error{usage}: --gloo or `controller: gloo`, for which a rendezvous server would be needed.
void refuse_gloo(const std::string& controller, const std::string& place);

}  // namespace ddlrun::frameworks
