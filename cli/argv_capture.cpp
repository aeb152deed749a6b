// SPDX-License-Identifier: MIT
#include "cli/argv_capture.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace ddlrun::cli {

namespace {

std::string option_word(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

void append_option(const CLI::Option& option, std::vector<std::string>& words) {
  const std::string name = option_word(option);
  if (name == "--help" || name == "--verbose" || name == "--quiet") return;
  const auto width = static_cast<std::size_t>(option.get_type_size_max());
  const std::vector<std::string> values = option.results();
  if (option.get_items_expected_max() == 0) return words.push_back(name);  // a flag
  for (std::size_t i = 0; i < values.size(); i += width) {
    words.push_back(name);
    for (std::size_t j = i; j < std::min(i + width, values.size()); ++j)
      words.push_back(name == "-x" ? values[j].substr(0, values[j].find('=')) : values[j]);
  }
}

}  // namespace

std::vector<std::string> captured_arguments(const CLI::App& app) {
  std::vector<std::string> words, positionals;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    if (option->get_positional())
      positionals.insert(positionals.end(), option->results().begin(), option->results().end());
    else
      append_option(*option, words);
  }
  words.insert(words.end(), positionals.begin(), positionals.end());
  return words;
}

}  // namespace ddlrun::cli
