// SPDX-License-Identifier: MIT
// The parts of a remedy: "a; b   # why". Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

inline constexpr std::string_view comment_mark = "   # ";  // behind the commands

struct RemedyParts {
  std::string commands;  // "a; b"
  std::string comment;   // "   # why", or ""
};
RemedyParts split_remedy(const std::string& remedy);

// "a; b" -> {"a", "b"}. A loop or quoted text is one command.
std::vector<std::string> split_commands(std::string_view commands);

// {"a", "b"} -> "a; b". What was an alternative to a command that is left out does not begin with "or".
std::string join_commands(const std::vector<std::string>& commands);

// Where a remedy names the command that prints the rank on each line.
struct TaggingCommand {
  std::size_t at = 0, size = 0;
};
std::optional<TaggingCommand> find_tagging(std::string_view remedy);
// For output that has the rank of each line already: "read the last lines of rank 3: mpirun --tag-output ..."
// -> "read the last lines of rank 3".
void drop_tagging(std::vector<std::string>& remedies);

// "ssh h1 'dmesg | tail'   # why" -> "dmesg | tail   # on h1: why", where h1 is here, which needs no sshd;
// the same of "mpirun -n 1 -H h1 ls". Any other remedy stays.
std::string without_ssh_to_self(const std::string& remedy,
                                const std::function<bool(const std::string& host)>& is_here);
// Of all remedies of the diagnosis.
Diagnosis without_ssh_to_self(Diagnosis diagnosis,
                              const std::function<bool(const std::string& host)>& is_here);

bool has_quotes(std::string_view command);

std::string replace_text(std::string text, std::string_view old, std::string_view by);

}  // namespace ddlrun::diagnose
