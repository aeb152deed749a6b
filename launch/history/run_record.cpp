// SPDX-License-Identifier: MIT
#include "launch/history/run_record.hpp"

#include "base/text/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::launch {

namespace {

std::tm utc(std::chrono::system_clock::time_point time) {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(time));
}

}  // namespace

std::string render_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc(time));
}

std::string render_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%d-%H%M%S}", utc(time));
}

// FNV-1a: not against guessing, only for a fixed length.
std::string render_digest(std::string_view value) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char byte : value) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

std::string render_argv_file(const Command& argv, const std::string& pasteable) {
  std::string text = "# " + pasteable + "\n";
  // A pasteable line with newlines would leave its comment: then only the words are written.
  if (pasteable.find('\n') != std::string::npos)
    text = "# some words hold newlines: argv.nul has them exactly\n";
  for (const std::string& word : argv) text += quote_shell(word) + "\n";
  return text;
}

std::string render_argv_nul(const Command& argv) {
  std::string text;
  for (const std::string& word : argv) text += word + '\0';
  return text;
}

std::string render_environment_names(const EnvVars& environment, const Exports& exports) {
  std::set<std::string> names(exports.names.begin(), exports.names.end());
  std::string text;
  for (const std::string& name : names) text += "exported " + name + "\n";
  for (const auto& [name, value] : environment) {
    if (names.count(name) == 0) text += "present " + printable(name) + "\n";
  }
  return text;
}

}  // namespace ddlrun::launch
