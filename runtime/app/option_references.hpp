// SPDX-License-Identifier: MIT
// The commands of ddl-train in one table, and rows of an option table as plain text.
#pragma once

#include "base/text/command_reference.hpp"

#include <string_view>
#include <vector>

namespace ddlrun::runtime {

struct Option;

// A command of ddl-train beside the training itself.
struct CommandRow {
  std::string_view name;
  std::string_view usage;  // behind "ddl-train"
  std::string_view help;
};
const std::vector<CommandRow>& command_rows();

// The rows of an option table. A heading is the group of the rows below it.
std::vector<OptionReference> describe_options(const std::vector<Option>& table);

}  // namespace ddlrun::runtime
