// SPDX-License-Identifier: MIT
// What the programs print as `PROGRAM __reference`.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::man {

struct CheckRow {
  std::string id, title, level, why, how, remedy;
};
struct SignatureRow {
  std::string id, kind, title, cause;
};
struct KeyRow {
  std::string name, group, value, summary;
};

struct Reference {
  std::vector<CommandReference> commands;
  std::vector<CheckRow> checks;
  std::vector<SignatureRow> signatures;
  std::vector<std::string> rules;  // of lint-script
  std::vector<KeyRow> keys;        // of ddlrun.yaml
};

// Adds what `json` has. Throws std::runtime_error for anything else.
void read_reference(std::string_view json, Reference& reference);

}  // namespace ddlrun::man
