// SPDX-License-Identifier: MIT
// A YAML document as a plain tree that remembers lines and columns. Strict: no anchors, aliases, tags or
// duplicate keys; at most 1 MiB, 32 deep, 20,000 values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

struct YamlField;

struct YamlValue {
  enum class Kind { nothing, scalar, sequence, mapping } kind = Kind::nothing;
  int line = 0;                   // 1-based
  int column = 0;                 // 1-based
  std::string text;               // of a scalar
  std::vector<YamlValue> items;   // of a sequence
  std::vector<YamlField> fields;  // of a mapping, in order

  // The field's value, or nullptr.
  const YamlValue* find(std::string_view key) const;
};

// No std::pair: a vector's element may be incomplete, the member of a pair may not, and clang 14 refuses it.
struct YamlField {
  std::string key;
  YamlValue value;
};

// Error{request} with this hint, at FILE:LINE:COLUMN if it is malformed, at FILE if it is too large.
YamlValue parse_yaml(std::string_view text, const std::string& file_name, const std::string& hint);

// "FILE:LINE:COLUMN"
std::string place_in(const std::string& file_name, const YamlValue& value);

}  // namespace ddlrun
