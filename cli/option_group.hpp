// SPDX-License-Identifier: MIT
// Declares the options of one group of a command's --help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ddlrun::cli {

class OptionGroup {
 public:
  // `app` must outlive this object.
  OptionGroup(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  // An option with one value, shown as `value_name` ("N", "FILE").
  template <typename T>
  OptionGroup& option(const std::string& names, T& target, const std::string& value_name,
                      const std::string& help) {
    app_.add_option(names, target, help)->type_name(value_name)->group(name_);
    return *this;
  }

  // An option that may be repeated; each occurrence takes one value.
  template <typename T>
  OptionGroup& repeatable(const std::string& names, std::vector<T>& target, const std::string& value_name,
                          const std::string& help) {
    app_.add_option(names, target, help)->allow_extra_args(false)->type_name(value_name)->group(name_);
    return *this;
  }

  OptionGroup& flag(const std::string& names, bool& target, const std::string& help) {
    app_.add_flag(names, target, help)->group(name_);
    return *this;
  }

 private:
  CLI::App& app_;
  std::string name_;
};

}  // namespace ddlrun::cli
