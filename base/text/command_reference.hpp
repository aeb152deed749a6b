// SPDX-License-Identifier: MIT
// The options of a program as plain text: for man pages, the reference and the completion in shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

struct OptionReference {
  std::vector<std::string> names;    // "--hosts", "-H"; an argument has one name without dashes
  std::string value;                 // "FILE", "ddl|packed"; "": a flag
  std::string help;                  // may be ""
  std::string group;                 // its heading
  std::vector<std::string> choices;  // the words that are valid values, where they are known
  std::string source;  // where further values come from: "files", "directories", "hosts", ...; may be ""
  int values = 0;      // how many words follow it; an argument has 1
  bool repeatable = false;
  bool required = false;
};

struct CommandReference {
  std::string name;  // "ddlrun launch"
  std::string summary;
  std::string usage;                       // one line or more, without "usage:"
  std::vector<std::string> description;    // paragraphs
  std::vector<OptionReference> arguments;  // in their order; the last may be repeatable
  std::vector<OptionReference> options;
  std::string examples;        // lines as typed
  bool takes_program = false;  // words after "--" are a program
};

// Where values with this name come from: "files" of FILE, PATH or NAME|FILE, "directories" of DIR; else "".
std::string_view source_of_value(std::string_view value);

// The words of a value name like "auto|off|N" that are meant literally: auto, off.
std::vector<std::string> choices_of_value(std::string_view value);

// {"schema": "ddlrun.commands/1", "commands": [...]}, as the build reads it.
std::string render_commands_json(const std::vector<CommandReference>& commands);

}  // namespace ddlrun
