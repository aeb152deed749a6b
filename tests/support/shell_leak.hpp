// SPDX-License-Identifier: MIT
// What a shell would run of a text that should be data.
#pragma once

#include <cstddef>
#include <string>

namespace ddlrun::tests {

// What would run: `payload` outside single quotes. A line for ssh is read by two shells, so there it counts
// anywhere.
inline bool may_run(const std::string& command, std::string payload) {
  std::erase_if(payload, [](char c) { return c == '\'' || c == '"'; });
  const bool twice = command.find("ssh ") != std::string::npos || command.find("bashrc") != std::string::npos;
  bool quoted = false;
  for (std::size_t at = 0; at < command.size(); ++at) {
    if (command.compare(at, payload.size(), payload) == 0 && (twice || !quoted)) return true;
    if (command[at] == '\\' && !quoted) {
      ++at;
    } else if (command[at] == '\'') {
      quoted = !quoted;
    }
  }
  return false;
}

}  // namespace ddlrun::tests
