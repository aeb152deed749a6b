// SPDX-License-Identifier: MIT
#include "cli/yes_no_options.hpp"

#include "topology/dims.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

namespace {

bool is_value_of(const std::string& values, const std::string& word) {
  if (word.empty()) return true;  // an empty value, which is refused
  if (word.starts_with('-')) return false;
  const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) return values.ends_with("|N");
  return !topology::is_dims_word(word);
}

}  // namespace

void complete_yes_no_options(const CLI::App& app, std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) continue;
    const CLI::Option* option = app.get_option_no_throw(words[i]);
    if (option == nullptr || !option->get_type_name().starts_with("yes|no")) continue;
    if (i + 1 == words.size() || !is_value_of(option->get_type_name(), words[i + 1])) words[i] += "=yes";
  }
}

}  // namespace ddlrun::cli
